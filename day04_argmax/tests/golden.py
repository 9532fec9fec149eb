"""What NumPy says about argmax, argmin, max, min, sum, mean and product of views and special values."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "testing"))
import golden  # noqa: E402

INF, NAN, LOWEST = float("inf"), float("nan"), float(np.finfo(np.float32).min)

# One line each: ties, NaN first, middle, last, twice; infinities; zeros of both signs.
SPECIAL = [
    [0.0], [NAN], [-INF], [1, 1], [2, 1], [1, 2], [-0.0, 0.0], [0.0, -0.0], [-1, -0.0, 0.0, -0.0],
    [-INF, LOWEST], [LOWEST, -INF], [-INF, -INF, -INF], [INF, INF], [INF, -INF, INF],
    [NAN, 1, 2], [1, NAN, 2], [1, 2, NAN], [1, NAN, 3, NAN], [NAN, NAN, NAN], [NAN, INF],
    [INF, NAN], [-INF, NAN, -INF], [8, 48, 39, 48], [3, 1, 3, 1, 3, 1], [1, 3, 1, 3, 1, 3],
]


def number(x):
    if np.isnan(x):
        return "NAN"
    if np.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return float(x).hex() + "f"


def numbers(values):
    return "{" + ", ".join(map(number, values)) + "}"


def special():
    yield "// a line, its argmax, its argmin"
    yield "constexpr GoldenLine golden_lines[] = {"
    for values in SPECIAL:
        x = np.array(values, dtype=np.float32)
        yield "{%s, %d, %d}," % (numbers(x), np.argmax(x), np.argmin(x))
    yield "};"


def views():
    """Whole numbers with ties, cut out of an array of 0 .. 119 shuffled by hand."""
    base = np.array([(k * 37 + 11) % 29 for k in range(120)], dtype=np.float32).reshape(2, 3, 4, 5)
    yield base
    yield base.transpose(3, 1, 0, 2)
    yield base[::-1, :, ::2, 1:]
    yield base[:, ::-1, 3:0:-1, ::-2]
    yield np.broadcast_to(base[:, :1], (2, 3, 4, 5))
    yield base[0, 0, 0]
    yield base.reshape(6, 20)


def reductions():
    yield "// shape, strides, offset, dim; argmax, argmin, max, min, sum, mean"
    yield "constexpr GoldenReduction golden_reductions[] = {"
    for array in views():
        root = array
        while root.base is not None:
            root = root.base
        first = (array.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // 4
        strides = tuple(s // 4 for s in array.strides)
        for dim in range(array.ndim):
            exact = array.astype(np.float64)
            yield "{%s, %s, %d, %d, %s, %s, %s, %s, %s, %s}," % (
                golden.braces(array.shape), golden.braces(strides), first, dim,
                golden.braces(array.argmax(axis=dim).ravel()),
                golden.braces(array.argmin(axis=dim).ravel()),
                numbers(array.max(axis=dim).ravel()), numbers(array.min(axis=dim).ravel()),
                numbers(exact.sum(axis=dim).ravel()),
                numbers(exact.mean(axis=dim).astype(np.float32).ravel()))
    yield "};"


def lines():
    yield from special()
    yield from reductions()


golden.main(lines(), __doc__, __file__)
