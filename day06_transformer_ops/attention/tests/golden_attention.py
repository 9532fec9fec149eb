"""Golden values of attention, computed in float64 with NumPy."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
from golden_numbers import answers, golden  # noqa: E402


def few(shape, factor, period):
    """Multiples of 1/4 in scrambled order."""
    n = int(np.prod(shape))
    return ((np.arange(n) * factor % period) / 4.0 - 1.5).reshape(shape)


def attention(q, k, v, causal, n):
    T, D = q.shape
    out = np.zeros((T, v.shape[1]))
    for t in range(T):
        seen = max(n - T + t + 1, 0) if causal else n
        if seen == 0:
            continue
        score = q[t] @ k[:seen].T / np.sqrt(D)
        e = np.exp(score - score.max())
        out[t] = e @ v[:seen] / e.sum()
    return out


def lines():
    yield "// T, S, D, causal, keys that count; the attention of few(T, D), few(S, D), few(S, D)"
    yield "const GoldenAttention golden_attention[] = {"
    for T, S, D, causal, n in ((1, 1, 3, True, 1), (3, 3, 2, True, 3), (3, 3, 2, False, 3), (2, 5, 4, True, 5),
                               (2, 5, 4, True, 3), (4, 6, 4, True, 2), (1, 7, 5, True, 0), (2, 7, 5, False, 0),
                               (9, 40, 33, True, 40), (1, 70, 64, True, 70)):
        y = attention(few((T, D), 5, 13), few((S, D), 7, 11), few((S, D), 3, 17), causal, n)
        yield "{%d, %d, %d, %s, %d, %s}," % (T, S, D, str(causal).lower(), n, answers(y))
    yield "};"


golden.main(lines(), __doc__, __file__, "golden_attention.inc")
