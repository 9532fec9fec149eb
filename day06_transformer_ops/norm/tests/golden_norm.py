"""Golden values of layer norm and RMS norm, computed in float64 with NumPy."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from golden_numbers import INF, NAN, answers, golden, noise, number, numbers, rows  # noqa: E402


def layer_norm(x, w, b, eps):
    z = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + eps)
    return z * w + b


def rms_norm(x, w, b, eps):
    return x / np.sqrt((x ** 2).mean() + eps) * w + b


def lines():
    yield "// eps, a row, weight, bias; its layer norm, its RMS norm"
    yield "const GoldenNorm golden_norm[] = {"
    eps = float(np.float32(1e-5))
    for x in rows([2.0], [1, 2], [1, 2, 3, 4], [0, 0, 0, 0, 0], [7, 7, 7], [-1, 1, -1, 1, 3], noise(33),
                  10240 + noise(33), [1e-3, 2e-3, -1e-3], [NAN, 1, 2],
                  [1, NAN], [1, INF, 2], [INF, 1], [-INF, -INF], [1e15, -1e15, 3e15]):
        n = len(x)
        w, b = 1 + (np.arange(n) * 5 % 7) / 4, (np.arange(n) * 3 % 11) / 2 - 2
        for e in (eps, 0.5):
            yield "{%s, %s, %s, %s, %s, %s}," % (number(e), numbers(x), numbers(w), numbers(b),
                                                answers(layer_norm(x, w, b, e)),
                                                answers(rms_norm(x, w, b, e)))
    yield "};"


golden.main(lines(), __doc__, __file__, "golden_norm.inc")
