#!/usr/bin/env python3
"""Writes libraries.txt with NumPy: the output of ../libraries.cu and ../libraries_cublas.cu.

    libraries_numpy.py > libraries.txt
"""
import math
from fractions import Fraction

import numpy as np


def line(name, values):
    print(name, *(int(v) for v in np.ravel(values)))


def small(n, modulus):
    i = np.arange(n)
    return (i % modulus - modulus // 2).astype(np.float64)


def groups():
    t = np.arange(64)
    tiles = (t * t % 13).reshape(8, 8)
    line("tiles", tiles.sum(1, keepdims=True) * 10000 + tiles.max(1, keepdims=True) * 100 + tiles.cumsum(1))
    lanes = np.arange(1, 32, 3)
    out = np.zeros(32)
    out[lanes] = len(lanes) * 100 + np.arange(len(lanes)) + 10000 * lanes[2]
    line("coalesced", out)
    t = np.arange(32)
    line("partitions", [np.sum(t % 5 == i % 5) * 100 + i // 5 for i in t])
    line("whole_grid", 3 * (23 - np.arange(24)))


def units():
    a, b = small(256, 7).reshape(16, 16), small(256, 5).reshape(16, 16).T
    line("wmma_half", a @ b + 1)
    product = a @ small(128, 5).reshape(8, 16).T
    line("mma_ptx", product + 1)
    line("mma_ptx_halves", product + np.repeat([[1], [3]], 8, 0) + np.arange(8) % 2)


def bits(x):
    return int(np.float32(x).view(np.int32))


def rounded(exact, down):
    """exact (a double, or close enough to one) as a float, towards zero or away from it."""
    near = np.float32(exact)
    if down and float(near) > exact:
        near = np.nextafter(near, np.float32(0))
    if not down and float(near) < exact:
        near = np.nextafter(near, np.float32(np.inf))
    return bits(near)


def intrinsics():
    third = float(np.float32(1) / np.float32(3))
    x, y = (np.array([w >> s & 255 for s in (0, 8, 16, 24)]) for w in (0x01FF7F80, 0x02030405))
    signed = x.astype(np.int8).astype(int)
    word = lambda parts: int(np.uint32(sum((int(p) & 255) << 8 * i for i, p in enumerate(parts))).view(np.int32))
    line("intrinsics", [
        rounded(third * third + 1, True), rounded(third * third + 1, False), bits(1), rounded(1 + 1e-9, False),
        rounded(2 / 3, True), rounded(2**0.5, False), bits(1 / np.sqrt(3.0)), int(signed @ y) + 10, int(x @ y) + 10,
        word(x + y), word(abs(x - y)), 0x00010001, -(2**23 - 1) * 3, 2, -3, 2**30, 2, 0, 16, 14])


def conversions():
    third = np.float32(1) / np.float32(3)
    half = lambda x: int(np.float16(x).view(np.uint16))
    brain = lambda x: (int(np.float32(x).view(np.uint32)) + 0x7FFF >> 16) & 0xFFFF  # no tie among these
    signed = lambda word: int(np.uint32(word).view(np.int32))
    line("conversions", [
        half(third), brain(third), bits(np.float16(third)), signed(brain(third) << 16),
        signed(half(1.5) << 16 | half(-third)), signed(brain(1.5) << 16 | brain(-third)), bits(1 + 2**-10),
        2, -3, 3, 0, 2**31 - 1, bits(2**32), int(np.float64(third).view(np.int64) >> 32), -128,
        signed(0x9ABCDEF0), -3, bits(float(third) * 3 - 1), 77])
    casts()
    line("scopes", [31 * 31, 31 * 16, 41, 1, 11, 0, 2**31 - 1, 12])


def casts():
    """Saturates; NaN is 0 or, with 64 bits on either side, the highest bit (PTX ISA, cvt)."""
    def toward(number, kind, up):  # the nearest float in that direction
        near = kind(float(number))
        if Fraction(float(near)) == number:
            return near
        if (Fraction(float(near)) < number) == up:
            near = np.nextafter(near, kind(math.inf if up else -math.inf))
        return near
    def floats(number, up):
        return bits(toward(Fraction(number), np.float32, up))
    def doubles(number, up):
        return int(toward(Fraction(number), np.float64, up).view(np.int64))
    big, whole, most = 3e9, 3 * 10**9, 2**64 - 1 - 3 * 10**9
    values = [
        2**31 - 1, -2**31, 0, 0, 2**32 - 1, 2**63 - 1, -2**63, 0, int(np.float32(5e9 * big)), -2**31, 2**31, whole, -2,
        -1, 2**31 - 1, -2**15, 0, 5, floats(whole // 2 + 67, False), floats(whole // 2 + 1, True),
        floats(whole + 255, False), floats(whole * whole + 1, True), floats(most, False), floats(big / 7, False),
        floats(big / 7, True), doubles(whole * whole - 1, False), doubles(most, True)]
    words = []
    for value in values:
        words += [int(np.int64(value & 2**32 - 1).astype(np.int32)), value >> 32 if value < 2**63 else (value >> 32) - 2**32]
    line("casts", words)


def cublas():
    m, n, k, lead, size = 3, 4, 5, 6, 64
    def matrix(array, rows, columns, ld=lead):
        return np.array([[array[j * ld + i] for j in range(columns)] for i in range(rows)])
    def put(array, values, ld=lead):
        result = array.copy()
        for (i, j), v in np.ndenumerate(values):
            result[j * ld + i] = v
        return result
    a, b, c, x, y = (small(size, p) for p in (7, 4, 11, 3, 9))
    op = lambda array, transposed, rows, columns: matrix(array, columns, rows).T if transposed else matrix(array, rows, columns)
    for ta in (False, True):
        for tb in (False, True):
            product = 2 * op(a, ta, m, k) @ op(b, tb, k, n) - matrix(c, m, n)
            line("sgemm_" + "nt"[ta] + "nt"[tb], [0, *put(c, product)])
    line("dgemm", [0, *put(c, 2 * op(a, False, m, k) @ op(b, False, k, n))])
    ex = put(c, 2 * op(a, True, m, k) @ op(b, False, k, n))
    line("gemm_ex", [0, *ex])
    batch = c.copy()
    for i in range(5):
        of = lambda array: matrix(array[4 * i:], 2, 2, 2)
        batch[4 * i:] = put(batch[4 * i:], 2 * of(a) @ of(b) - of(batch), 2)
    line("batched", [0, *batch])
    line("lda_too_small", [7, *ex])
    y[0:30:3] += 2 * x[0:20:2]
    line("axpy", [0, *y])
    y[0:30:3] += 2 * x[18::-2][:10]
    line("axpy_back", [0, *y])
    y[0:6:2] = 2 * matrix(a, m, n) @ x[:n] - y[0:6:2]
    line("gemv_n", [0, *y])
    y[0:8:2] = 2 * matrix(a, m, n).T @ x[:m] - y[0:8:2]
    line("gemv_t", [0, *y])
    a = put(a, matrix(a, m, n) + 2 * np.outer(x[:m], y[0:8:2]))
    line("ger", [0, *a])
    y = put(y, 2 * matrix(a, n, m).T - matrix(b, m, n))
    line("geam", [0, *y])
    line("dot", [0, x[:10] @ b[0:20:2]])
    line("asum", [0, abs(b[:20]).sum()])
    line("nrm2", [0, 100 * np.sqrt((b[:3] ** 2).sum())])
    line("isamax", [0, 1 + int(np.argmax(abs(a[:20])))])


def barriers_and_memory():
    t = np.arange(64)
    line("barriers", t.sum() + t)
    stages = 100 * np.arange(4)[:, None] + np.arange(32)
    line("stages_of_a_thread", ((stages[0] * 3 + stages[1]) * 3 + stages[2]) * 3 + stages[3])
    stages = stages[:, ::-1]
    line("stages_of_a_block", ((stages[0] * 3 + stages[1]) * 3 + stages[2]) * 3 + stages[3])
    n = np.arange(40) + 1
    line("heap", (n - 1) ** 2 + n // 2)


def random_numbers():
    """From CUDA's own header on the host, with QUALIFIERS defined as static __host__ __device__."""
    line("random_xorwow", [-390357247, 2120288771, -1210747479, 9209135, 1969224, 245963149])
    line("random_philox", [-1798792531, -1848379652, 2016912646, -1939277664, -260707150, 1185158861, -1113128011,
                           -1375095371, -1991619453, 895982296, -1058190275, 12794580])


groups()
units()
intrinsics()
conversions()
barriers_and_memory()
random_numbers()
cublas()
