"""NumPy's views: shape, strides and first element of slices, flips, permutations, broadcasts and
windows, and which reshapes are views."""
import itertools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
import golden  # noqa: E402


def first_byte(array):
    return array.__array_interface__["data"][0]


def used_strides(array):
    """In elements. NumPy does not specify unused strides: they are written as 0."""
    return tuple(0 if n == 1 or array.size == 0 else s // array.itemsize
                 for n, s in zip(array.shape, array.strides))


def text(array):
    return "%s, %s" % (golden.braces(array.shape), golden.braces(used_strides(array)))


def attempt(operation, array):
    """The view, or None if NumPy raises an error."""
    try:
        view = operation(array)
    except (ValueError, IndexError, AttributeError):
        return None
    assert view.size == 0 or np.shares_memory(view, array)
    return view


def line(name, array, arguments, operation):
    """The first element of an empty result is written as 0."""
    view = attempt(operation, array)
    head = '{"%s", %s, %s, ' % (name, text(array), golden.braces(arguments))
    if view is None:
        return head + "false, {}, {}, 0},"
    place = (first_byte(view) - first_byte(array)) // array.itemsize if view.size > 0 else 0
    return head + "true, %s, %d}," % (text(view), place)


def along(array, dim, what):
    """array[..., what, ...] with `what` in place of dim."""
    return array[(slice(None),) * (dim % array.ndim) + (what,)]


def arrays():
    """Rank-3 views made by NumPy: plain, transposed, pitched, flipped, broadcast, empty."""
    base = np.zeros((2, 3, 4), np.float32)
    yield base
    yield base.transpose(2, 0, 1)
    yield np.zeros((5, 4, 6), np.float32)[1:3, :3, 1:5]
    yield base[::-1, :, ::-1]
    yield np.zeros((4, 6, 3), np.float32)[::2, ::-2]
    yield np.broadcast_to(base[:, :1], (2, 3, 4))
    yield np.zeros((1, 4, 1), np.float32)
    yield base[:, 1:1]


def transforms():
    """All operations on the plain array; on the others, those that depend on strides."""
    yield "// operation, shape, strides, arguments, a view?, its shape, its strides, first element"
    yield "constexpr GoldenTransform golden_transforms[] = {"
    for number, a in enumerate(arrays()):
        plain = number == 0
        for dim in (0, 1, 2, -1, -3) if plain else (number % 3, -2):
            n = a.shape[dim]
            slices = {(0, n, 2), (n - n // 2, n, 3)}
            if plain:
                slices |= {(0, n, 1), (n // 2, n, 1), (0, n // 2, 1), (n, n, 1)}
            for begin, end, step in sorted(slices):
                yield line("slice", a, (dim, begin, end, step),
                           lambda a: along(a, dim, slice(begin, end, step)))
            for i in sorted({0, n - 1, n, n + 3} if plain else {n - 1, n}):
                if i >= 0:
                    yield line("select", a, (dim, i), lambda a: along(a, dim, i))
            yield line("flip", a, (dim,), lambda a: np.flip(a, dim))
            yield line("squeeze", a, (dim,), lambda a: np.squeeze(a, dim))
            sizes = ((1, 1), (2, 1), (2, 2), (2, 3), (4, 1), (9, 1)) if plain else ((2, 1), (2, 3))
            for size, step in sizes:
                yield line("windows", a, (dim, size, step), lambda a: along(
                    np.lib.stride_tricks.sliding_window_view(a, size, dim), dim % a.ndim,
                    slice(None, None, step)))
        for dim in (0, 1, 2, 3, 4, -1, -4, -5) if plain else (1, -1):
            yield line("unsqueeze", a, (dim,), lambda a: np.expand_dims(a, dim))
        orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0),
                  (-1, 0, 1), (-2, -1, -3), (0, 0, 1), (0, 1), (0, 1, 3), (0, 1, -4))
        for order in orders if plain else ((1, 2, 0), (-2, -1, -3)):
            yield line("permute", a, order, lambda a: np.transpose(a, order))
        for i, j in ((0, 1), (0, 2), (-1, 0), (1, 1), (0, 3), (-4, 0)) if plain else ((-1, 0),):
            yield line("transpose", a, (i, j), lambda a: np.swapaxes(a, i, j))
        yield line("transpose_last", a, (), lambda a: np.swapaxes(a, -1, -2))
        yield line("squeeze_all", a, (), np.squeeze)
        for i, j, k in ((0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1)) if plain else ((0, 1, 1),):
            begins, tile = (2 * i, 2 * j, 3 * k), (2, 2, 3)
            if all(b < n for b, n in zip(begins, a.shape)):
                yield line("tile", a, (i, j, k), lambda a: a[tuple(
                    slice(b, b + t) for b, t in zip(begins, tile))])
    yield "};"


def broadcasts():
    shapes = [(), (0,), (1,), (3,), (0, 3), (1, 0), (1, 1), (1, 3), (2, 3), (3, 0), (3, 1),
              (2, 1, 3), (4, 3, 1)]
    yield "// two shapes, in either order; is there a common one?, the common one"
    yield "constexpr GoldenBroadcast golden_broadcasts[] = {"
    for a, b in itertools.combinations_with_replacement(shapes, 2):
        try:
            common = np.broadcast_shapes(a, b)
            yield "{%s, %s, true, %s}," % tuple(map(golden.braces, (a, b, common)))
        except ValueError:
            yield "{%s, %s, false, {}}," % tuple(map(golden.braces, (a, b)))
    yield "};"
    yield "constexpr GoldenTransform golden_broadcast_views[] = {"
    for a in (np.zeros(s, np.float32) for s in ((), (1,), (3,), (3, 1), (2, 3))):
        for shape in shapes:
            yield line("broadcast_to", a, shape, lambda a: np.broadcast_to(a, shape))
    yield line("broadcast_to", a.T, (4, 3, 2), lambda a: np.broadcast_to(a, (4, 3, 2)))
    yield line("broadcast_to", a[::-1], (5, 2, 3), lambda a: np.broadcast_to(a, (5, 2, 3)))
    yield "};"


def factorizations(n, rank):
    if rank == 0:
        return [()] if n == 1 else []
    return [(d,) + rest for d in range(1, n + 1) if n % d == 0
            for rest in factorizations(n // d, rank - 1)]


def set_shape(shape):
    """Assigning to .shape is the only NumPy reshape that never copies."""
    def operation(array):
        view = array.view()
        view.shape = shape
        return view
    return operation


def reshapes():
    """All shapes of 24 elements for the plain array, every third one for the others."""
    yield "// which shapes are views; where NumPy would have to copy: false"
    yield "constexpr GoldenTransform golden_reshapes[] = {"
    for number, a in enumerate(arrays()):
        plain = number == 0
        for rank in range(4):
            shapes = factorizations(a.size, rank) if a.size > 0 else []
            for shape in shapes if plain or rank < 2 else shapes[number % 3::3]:
                yield line("reshape", a, shape, set_shape(shape))
        shapes = ((-1,), (2, -1), (-1, 4), (2, 3, -1, 2, 1), (-1, 5), (-1, -1), (0, -1), (0, 3),
                  (-1, 0), (25,), (3, 7))
        for shape in shapes if plain or a.size == 0 else ((2, -1), (2, 3, -1, 2, 1)):
            yield line("reshape", a, shape, set_shape(shape))
    yield "};"


def lines():
    for part in (transforms, broadcasts, reshapes):
        yield from part()


golden.main(lines(), __doc__, __file__, "golden_transform.inc")
