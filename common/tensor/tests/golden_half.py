"""NumPy's rounding from float to 16-bit IEEE floats (NumPy has no bfloat16)."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
import golden  # noqa: E402


def checksum(bits):
    """Sum of (k + 1) * bits[k], modulo 2^64: changes if a value or its position changes."""
    k = np.arange(1, len(bits) + 1, dtype=np.uint64)
    return int(np.sum(k * bits.astype(np.uint64), dtype=np.uint64))


def nearest(floats):
    with np.errstate(over="ignore"):
        return floats.astype(np.float16).view(np.uint16)


HARD = [0.0, -0.0, 1.0, -1.0, 1.0 + 2**-11, 1.0 + 2**-11 + 2**-20, 1.0 + 2**-11 - 2**-20,
        1.0 + 3 * 2**-11, 2.0**-14, 2.0**-14 - 2**-25, 2.0**-24, 2.0**-25, 2.0**-25 + 2**-40,
        3 * 2.0**-25, 2.0**-26, 2.0**-149, 65504.0, 65519.996, 65520.0, -65520.0, 65536.0, 1e38,
        float("inf"), float("-inf"), 0.1, 1 / 3, 2049.0, 2051.0, 2050.5]


def four_a_line(sums):
    words = ["0x%016xu," % s for s in sums]
    for first in range(0, len(words), 4):
        yield " ".join(words[first:first + 4])


def floats_of_halves():
    for group in range(64):
        patterns = np.arange(group * 1024, (group + 1) * 1024, dtype=np.uint32).astype(np.uint16)
        values = patterns.view(np.float16)
        yield checksum(values[~np.isnan(values)].astype(np.float32).view(np.uint32))


def halves_of_floats():
    for group in range(256):
        bits = np.arange(group << 24, (group + 1) << 24, 4099, dtype=np.uint64)
        values = bits.astype(np.uint32).view(np.float32)
        yield checksum(nearest(values[~np.isnan(values)]))


def halves():
    yield "// 64 groups of 1024 patterns without NaNs: checksum of floats"
    yield "const std::uint64_t golden_f16_to_float[] = {"
    yield from four_a_line(floats_of_halves())
    yield "};"
    yield "// 256 groups: floats of bits group * 2^24 + 4099 * k, no NaNs"
    yield "const std::uint64_t golden_float_to_f16[] = {"
    yield from four_a_line(halves_of_floats())
    yield "};"
    yield "// a float, the bits of the nearest f16"
    yield "const GoldenHalf golden_hard_halves[] = {"
    for x in HARD:
        f = np.float32(x)
        name = float(f).hex() + "f" if np.isfinite(f) else ("-" if f < 0 else "") + "kInfinity"
        yield "{%s, 0x%04x}," % (name, int(nearest(f)))
    yield "};"


golden.main(halves(), __doc__, __file__, "golden_half.inc")
