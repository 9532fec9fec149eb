"""Shared by the generators of this folder: numbers as C++, and noise."""
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "testing"))
import golden  # noqa: E402, F401

INF, NAN = float("inf"), float("nan")
np.seterr(all="ignore")


def number(x):
    x = float(x)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return x.hex()


def numbers(values):
    """Inputs, with all their digits."""
    return "{" + ", ".join(number(v) for v in np.ravel(values)) + "}"


def answer(x):
    """12 digits: more than a float's tests need, and fewer than NumPy's versions agree on."""
    return "%.12g" % x if math.isfinite(x) else number(x)


def answers(values):
    return "{" + ", ".join(answer(v) for v in np.ravel(values)) + "}"


def rows(*values):
    return [np.array(v, dtype=np.float32).astype(np.float64) for v in values]


def noise(n):
    """Multiples of 1/8 from -6 to 6.5, in scrambled order: exact in bfloat16 too."""
    return np.array([(i * 37 + 11) % 101 / 8.0 - 6 for i in range(n)])
