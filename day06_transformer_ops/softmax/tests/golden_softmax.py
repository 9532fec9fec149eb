"""Golden values of softmax and its variants, computed in float64 with NumPy."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from golden_numbers import INF, NAN, answer, answers, golden, noise, number, numbers, rows  # noqa: E402


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def log_softmax(x):
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def lines():
    yield "// a row, its softmax, its log_softmax"
    yield "const GoldenRow golden_softmax[] = {"
    for x in rows([0.0], [-7.5], [1, 2, 3], [3, 1, 2, 0, -1], [0.1, 0.2, 0.3, 0.4], [-100, -101, -102],
                  [1e4, -1e4], [1e4, 1e4 - 1, 1e4 - 2], [-1e10, 0, 1e10], [-2e4, -2e4 - 1, -2e4 - 2], [-INF, 0, 1], [0, -INF],
                  [-90, 0], [3, 3, 3, 3, 3, 3, 3],
                  [NAN], [NAN, 1, 2], [1, 2, NAN], [NAN, -INF], [-INF, NAN], [-INF], [-INF, -INF],
                  [INF, 1], [1, INF], [INF, INF], [INF, -INF]):
        yield "{%s, %s, %s}," % (numbers(x), answers(softmax(x)), answers(log_softmax(x)))
    yield "};"
    yield "// length of a row of noise, its largest element, log of the sum of exp(x - largest)"
    yield "const GoldenLongRow golden_long_rows[] = {"
    for n in (1, 2, 31, 33, 127, 768, 769, 1600, 4096, 50257):
        x = noise(n)
        yield "{%d, %s, %s}," % (n, number(x.max()), answer(np.log(np.exp(x - x.max()).sum())))
    yield "};"
    yield "// T, S, and the causal softmax of noise (T, S)"
    yield "const GoldenCausal golden_causal[] = {"
    for T, S in ((1, 1), (3, 3), (2, 5), (1, 4)):
        x, y = noise(T * S).reshape(T, S), np.zeros((T, S))
        for t in range(T):
            y[t, :t + 1 + S - T] = softmax(x[t, :t + 1 + S - T])
        yield "{%d, %d, %s}," % (T, S, answers(y))
    yield "};"


golden.main(lines(), __doc__, __file__, "golden_softmax.inc")
