"""Golden values of the activations, computed in float64 with Python's math module."""
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from golden_numbers import answers, golden, numbers  # noqa: E402


def relu(x):
    return x if not x <= 0 else 0.0


def gelu_erf(x):
    return x / 2 * math.erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    if u > -1:
        return x / 2 * (1 + math.tanh(u))
    return x / 2 * 2 * math.exp(2 * u) / (1 + math.exp(2 * u))  # where tanh is nearly -1


def silu(x):
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def lines():
    x = [i / 8 for i in range(-48, 49, 3)] + [-100, -20, -13, -9.5, -8, 8, 9.5, 13, 100, 1e-3, -1e-3, 1e-30,
                                              1e30, -1e30, 0.1, -0.7, 1.3, -2.2]
    x = [float(np.float32(v)) for v in x]
    yield "const std::vector<double> golden_x = %s;" % numbers(x)
    yield "// of golden_x, in the order of Activation"
    yield "const std::vector<double> golden_activated[] = {"
    for f in (relu, gelu_erf, gelu_tanh, silu):
        yield answers([f(v) if abs(v) < 1e20 else max(v, 0.0) for v in x]) + ","
    yield "};"


golden.main(lines(), __doc__, __file__, "golden_activation.inc")
