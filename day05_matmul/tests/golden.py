"""What NumPy says about products of matrices and of stacks of them."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "testing"))
import golden  # noqa: E402

CASES = [((2, 3), (3, 4), False, False), ((3, 2), (3, 4), True, False), ((2, 3), (4, 3), False, True),
         ((5, 1), (1, 2), False, False), ((1, 5), (5, 1), False, False), ((3, 2), (4, 3), True, True),
         ((2, 2, 3), (2, 3, 2), False, False), ((2, 2, 3), (3, 2), False, False),
         ((2, 3), (3, 3, 2), False, False), ((2, 1, 2, 3), (3, 3, 2), False, False),
         ((2, 3, 2), (2, 2, 3), True, True), ((1, 2, 1, 2, 2), (3, 2, 3), False, False)]


def lines():
    yield "const std::vector<GoldenProduct> golden_products = {"
    for shape_a, shape_b, a_transposed, b_transposed in CASES:
        a = np.arange(1, np.prod(shape_a) + 1, dtype=np.float64).reshape(shape_a)
        b = 3 * np.arange(1, np.prod(shape_b) + 1, dtype=np.float64).reshape(shape_b)
        out = (a.swapaxes(-1, -2) if a_transposed else a) @ (b.swapaxes(-1, -2) if b_transposed else b)
        yield "    {%s, %s, %s, %s, %s," % (*map(golden.braces, (shape_a, shape_b, out.shape)),
                                            str(a_transposed).lower(), str(b_transposed).lower())
        numbers = ["%d" % v for v in out.reshape(-1)]
        for i in range(0, len(numbers), 12):
            opens, closes = "     {" if i == 0 else "      ", "}}," if i + 12 >= len(numbers) else ","
            yield opens + ", ".join(numbers[i:i + 12]) + closes
    yield "};"


golden.main(lines(), __doc__, __file__)
