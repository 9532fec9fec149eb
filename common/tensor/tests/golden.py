"""NumPy's strides, ravel and unravel, offsets and contiguity."""
import itertools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
import golden  # noqa: E402

SHAPES = [(7,), (2, 3), (3, 2), (5, 4), (2, 3, 4), (4, 3, 2), (3, 5, 7), (2, 3, 4, 5), (3, 2, 5, 2),
          (2, 2, 2, 2, 2), (2, 3, 2, 3, 2, 3, 2, 3)]


def element_strides(array):
    return tuple(s // array.itemsize for s in array.strides)


def some_numbers(size):
    """The first, the last, and some in between."""
    return sorted({0, 1, size // 3, size // 2, size - 2, size - 1})


def strides():
    yield "// shape, row-major strides, column-major strides"
    yield "const GoldenStrides golden_strides[] = {"
    for shape in SHAPES:
        c, f = np.zeros(shape, np.float32), np.zeros(shape, np.float32, order="F")
        yield "{%s, %s, %s}," % tuple(map(golden.braces,
                                          (shape, element_strides(c), element_strides(f))))
    yield "};"


def ravel():
    yield "// shape, multi-index, its number; column-major number"
    yield "const GoldenNumber golden_numbers[] = {"
    for shape in SHAPES:
        for number in some_numbers(int(np.prod(shape))):
            index = np.unravel_index(number, shape)
            back = np.ravel_multi_index(index, shape)
            assert back == number
            columns = np.ravel_multi_index(index, shape, order="F")
            yield "{%s, %s, %d, %d}," % (golden.braces(shape), golden.braces(index), number, columns)
    yield "};"


def arrays():
    """Views made by NumPy: transposed, sliced, flipped, broadcast."""
    base = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    fortran = np.asfortranarray(base)
    for array in (base, fortran):
        for axes in itertools.permutations(range(3)):
            yield array.transpose(axes)
        yield array[:, ::-1]
        yield array[::-1, ::-1, ::-1]
        yield array[:, 1:, ::2]
        yield array[1:, :, ::-3]
        yield array[:, :1, :]
        yield array[:, 2:2, :]
    yield np.broadcast_to(base, (5, 2, 3, 4))
    yield np.broadcast_to(base[:, :1], (2, 3, 4))
    yield np.broadcast_to(np.float32(3), (2, 3))


def layouts():
    """NumPy does not specify unused strides (extent 1, or no elements): they are written as 0, and
    only properties that do not depend on them are kept."""
    yield "// shape, strides, row-major?, column-major?, {index, offset}"
    yield "const GoldenLayout golden_layouts[] = {"
    for array in arrays():
        used = [0 if n == 1 or array.size == 0 else s
                for n, s in zip(array.shape, element_strides(array))]
        probe = ""
        if array.size > 0:
            for number in some_numbers(array.size):
                index = np.unravel_index(number, array.shape)
                # From NumPy's addresses, not from a formula.
                here = array[tuple(slice(i, i + 1) for i in index)].ctypes.data
                offset = (here - array.ctypes.data) // array.itemsize
                probe += "{%s, %d}, " % (golden.braces(index), offset)
        yield "{%s, %s, %s, %s, {%s}}," % (
            golden.braces(array.shape), golden.braces(used),
            str(array.flags.c_contiguous).lower(), str(array.flags.f_contiguous).lower(),
            probe.rstrip(", "))
    yield "};"


def lines():
    for part in (strides, ravel, layouts):
        yield from part()


golden.main(lines(), __doc__, __file__)
