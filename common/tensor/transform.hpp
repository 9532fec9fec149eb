/// @file
/// Views of views: another shape and other strides over the same elements. Nothing is copied and no
/// element is accessed; a few numbers change, at the same cost for ten elements and ten billion.
/// Host only, and checked: the result never extends beyond its argument.
///
///     const auto v = tensor.view();             // (B, T, C): batch, token position, channel
///     select(v, 0, b)                           // (T, C): sequence b
///     slice(v, 2, 64, 128)                      // (B, T, 64): the second 64 channels
///     permute(v, {2, 0, 1})                     // (C, B, T)
///     reshape(v, {-1, v.extent(2)})             // (B * T, C)
///     broadcast_to(bias, v.layout.shape)        // bias (C), repeated for every token
///
/// Every function takes a View<T> and returns one, or takes a Layout: then it returns a Layout,
/// or, where index (0, 0, ...) moves, a Cut. Names and meaning follow PyTorch and NumPy, with
/// these differences:
///
/// - Dimensions may be negative, as there: -1 is the last. Indices and bounds may not, and a bound
///   beyond the extent is rejected, not clamped, so that a miscalculation is noticed.
/// - A step is at least 1; use flip() to reverse.
/// - transpose(v) exchanges the last two dimensions, like v.mT in PyTorch; NumPy's reverses all.
/// - A result without elements keeps the pointer of its argument. One past the end of a dimension
///   may be far past the end of the memory.
///
/// All throw std::invalid_argument with a message that contains the values.
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays {

/// A part of a layout: its own layout, and the offset of its index (0, 0, ...).
struct Cut {
    Layout layout;           ///< shape and strides of the part
    std::int64_t first = 0;  ///< in elements, from index (0, 0, ...) of the whole
};

/// Converts a dimension that may be negative (-1 is the last, -rank the first) to 0 <= dim < rank.
/// @param op  the operation, for the message
/// @throws std::invalid_argument  no such dimension
[[nodiscard]] int checked_dim(const char* op, std::int64_t dim, int rank);

/// Several dimensions that may be negative, as numbers 0 <= dim < rank in ascending order.
/// @param op  the operation, for the message
/// @throws std::invalid_argument  no such dimension, or one is named twice
[[nodiscard]] Dims checked_dims(const char* op, const Dims& dims, int rank);

// --- parts ---------------------------------------------------------------------------------------

/// Indices begin, begin + step, ... below `end` of one dimension: a[begin:end:step] in Python.
/// @return  extent (end - begin) / step, rounded up, along `dim`; the other dimensions unchanged
/// @throws std::invalid_argument  no such dimension; not 0 <= begin <= end <= extent; step < 1
[[nodiscard]] Cut slice(const Layout& layout, int dim, std::int64_t begin, std::int64_t end,
                        std::int64_t step = 1);

/// Fixes one index and drops its dimension: select(v, 0, i) of a matrix is its row i.
/// @throws std::invalid_argument  no such dimension; not 0 <= i < extent
[[nodiscard]] Cut select(const Layout& layout, int dim, std::int64_t i);

/// Drops these dimensions, at index 0 of each: the starts of the rows along them. The other
/// dimensions keep their order.
/// @param dims  in any order; negative ones count from the back
/// @throws std::invalid_argument  no such dimension, or one is named twice
[[nodiscard]] Layout without(const Layout& layout, const Dims& dims);
/// Keeps these dimensions and drops the others, at index 0 of each: one row. The kept ones are in
/// ascending order.
/// @param dims  in any order; negative ones count from the back
/// @throws std::invalid_argument  no such dimension, or one is named twice
[[nodiscard]] Layout only(const Layout& layout, const Dims& dims);

/// The first n dimensions, at index 0 of the others; with n = rank - 2, the starts of the matrices
/// of a stack.
/// @throws std::invalid_argument  not 0 <= n <= rank
[[nodiscard]] Layout outer(const Layout& layout, int n);

/// The same elements, last first along `dim`: its stride changes sign, and index 0 moves to the
/// last element.
/// @throws std::invalid_argument  no such dimension
[[nodiscard]] Cut flip(const Layout& layout, int dim);

/// Rows [begin, end) of a matrix, as a matrix.
/// @throws std::invalid_argument  a rank other than 2; not 0 <= begin <= end <= rows
[[nodiscard]] Cut rows(const Layout& matrix, std::int64_t begin, std::int64_t end);
/// Columns [begin, end) of a matrix, as a matrix.
/// @throws std::invalid_argument  a rank other than 2; not 0 <= begin <= end <= columns
[[nodiscard]] Cut columns(const Layout& matrix, std::int64_t begin, std::int64_t end);
/// Row i of a matrix, as a vector: rank 1.
/// @throws std::invalid_argument  a rank other than 2; no such row
[[nodiscard]] Cut row(const Layout& matrix, std::int64_t i);
/// Column j of a matrix, as a vector: rank 1, stride(0) of which is the matrix's row stride.
/// @throws std::invalid_argument  a rank other than 2; no such column
[[nodiscard]] Cut column(const Layout& matrix, std::int64_t j);

/// The number of tiles of shape `tile` that cover `shape`, per dimension: extent / tile, rounded
/// up. No tile covers an extent of 0.
/// @throws std::invalid_argument  ranks differ; a tile extent < 1
[[nodiscard]] Dims tiles_per_dim(const Shape& shape, const Shape& tile);

/// Tile number `index` of the partition into tiles of shape `shape`. At the far edges a tile
/// is cut off, so its extents may be smaller.
/// @throws std::invalid_argument  as tiles_per_dim(); not 0 <= index < tiles_per_dim()
[[nodiscard]] Cut tile(const Layout& layout, const Shape& shape, const Index& index);

// --- the same elements, other dimensions ---------------------------------------------------------

/// Exchanges dimensions a and b, like PyTorch's transpose; NumPy's is permute().
/// @throws std::invalid_argument  no such dimensions
[[nodiscard]] Layout transpose(const Layout& layout, int a, int b);

/// Exchanges the last two dimensions: the transpose of a matrix, or of each in a stack (.mT).
/// @throws std::invalid_argument  rank < 2
[[nodiscard]] Layout transpose(const Layout& layout);

/// Dimension d of the result is order[d] of the argument: permute({B, T, C}, {2, 0, 1}) is {C, B,
/// T}.
/// @throws std::invalid_argument  not every dimension exactly once
[[nodiscard]] Layout permute(const Layout& layout, const Dims& order);

/// Drops all dimensions of extent 1.
[[nodiscard]] Layout squeeze(const Layout& layout);
/// Drops this dimension, which must have extent 1; PyTorch leaves others unchanged.
/// @throws std::invalid_argument  no such dimension; its extent is not 1
[[nodiscard]] Layout squeeze(const Layout& layout, int dim);

/// A new dimension of extent 1, at position `dim` of the result: -1 adds it after the last. Its
/// stride is 0 and is never used.
/// @throws std::invalid_argument  no such position; rank 8 already
[[nodiscard]] Layout unsqueeze(const Layout& layout, int dim);

/// Another shape with the same number of elements, in the same row-major order. One extent may be
/// -1 and is computed from the others. The result is a view only where one stride describes each
/// new dimension; a copy (day 03's contiguous()) can always be reshaped. PyTorch's view(); its
/// reshape and NumPy's would copy.
/// @throws std::invalid_argument  another number of elements; a second -1, or one that is
/// ambiguous; only a copy could have that shape
[[nodiscard]] Layout reshape(const Layout& layout, const Shape& shape);

/// Whether reshape() would throw because only a copy can have that shape.
/// @throws std::invalid_argument  as reshape(), for all other reasons
[[nodiscard]] bool reshape_would_copy(const Layout& layout, const Shape& shape);

// --- elements seen more than once ----------------------------------------------------------------
// Read only: two indices share an offset, so no operation accepts them as an output.

/// The same elements, repeated to fill `shape`. Dimensions are aligned at the last one; a missing
/// one or one of extent 1 is repeated, by stride 0. Read only: indices share offsets, so no
/// operation accepts the result as an output. The rule is
/// [NumPy's](https://numpy.org/doc/stable/user/basics.broadcasting.html).
/// @throws std::invalid_argument  `shape` has fewer dimensions; another extent that is not 1; a
/// size or an offset that does not fit in 64 bits
[[nodiscard]] Layout broadcast_to(const Layout& layout, const Shape& shape);

/// The shape that both can be broadcast to: (3, 1) and (4) make (3, 4).
/// @throws std::invalid_argument  two extents differ and none of them is 1
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b);
/// The shape that all three can be broadcast to.
/// @throws std::invalid_argument  two extents differ and none of them is 1
[[nodiscard]] inline Shape broadcast_shapes(const Shape& a, const Shape& b, const Shape& c) {
    return broadcast_shapes(broadcast_shapes(a, b), c);
}

/// Windows of `size` neighbours along `dim`, each `step` after the previous one: `dim` counts the
/// windows, a new last dimension the elements of one. PyTorch's unfold. A step below `size` makes
/// them overlap, so the result is read only; a larger one leaves gaps. A partial last window is
/// dropped.
/// @throws std::invalid_argument  no such dimension; not 1 <= size <= extent; step < 1; rank 8
/// already
[[nodiscard]] Layout windows(const Layout& layout, int dim, std::int64_t size, std::int64_t step);

// --- the same for views --------------------------------------------------------------------------

namespace detail {
template <class T>
View<T> cut_out(const View<T>& v, const Cut& cut) {
    return {v.data + cut.first, cut.layout};
}
}  // namespace detail

/// The elements begin, begin + step, ... below `end` along `dim`: a[begin:end:step] in Python.
/// @throws std::invalid_argument  no such dimension; not 0 <= begin <= end <= extent; step < 1
template <class T>
[[nodiscard]] View<T> slice(const View<T>& v, int dim, std::int64_t begin, std::int64_t end,
                            std::int64_t step = 1) {
    return detail::cut_out(v, slice(v.layout, dim, begin, end, step));
}
/// The elements at index i of `dim`, which is dropped: select(v, 0, i) of a matrix is its row i.
/// @throws std::invalid_argument  no such dimension; not 0 <= i < extent
template <class T>
[[nodiscard]] View<T> select(const View<T>& v, int dim, std::int64_t i) {
    return detail::cut_out(v, select(v.layout, dim, i));
}
/// The same elements, last first along `dim`; `data` moves to the last one.
/// @throws std::invalid_argument  no such dimension
template <class T>
[[nodiscard]] View<T> flip(const View<T>& v, int dim) {
    return detail::cut_out(v, flip(v.layout, dim));
}
/// Rows [begin, end) of a matrix, as a matrix.
/// @throws std::invalid_argument  a rank other than 2; not 0 <= begin <= end <= rows
template <class T>
[[nodiscard]] View<T> rows(const View<T>& matrix, std::int64_t begin, std::int64_t end) {
    return detail::cut_out(matrix, rows(matrix.layout, begin, end));
}
/// Columns [begin, end) of a matrix, as a matrix.
/// @throws std::invalid_argument  a rank other than 2; not 0 <= begin <= end <= columns
template <class T>
[[nodiscard]] View<T> columns(const View<T>& matrix, std::int64_t begin, std::int64_t end) {
    return detail::cut_out(matrix, columns(matrix.layout, begin, end));
}
/// Row i of a matrix, as a vector.
/// @throws std::invalid_argument  a rank other than 2; no such row
template <class T>
[[nodiscard]] View<T> row(const View<T>& matrix, std::int64_t i) {
    return detail::cut_out(matrix, row(matrix.layout, i));
}
/// Column j of a matrix, as a vector.
/// @throws std::invalid_argument  a rank other than 2; no such column
template <class T>
[[nodiscard]] View<T> column(const View<T>& matrix, std::int64_t j) {
    return detail::cut_out(matrix, column(matrix.layout, j));
}
/// Tile number `index` of the partition into tiles of shape `shape`; smaller at the far edges.
/// @throws std::invalid_argument  ranks differ; a tile extent < 1; no such tile
template <class T>
[[nodiscard]] View<T> tile(const View<T>& v, const Shape& shape, const Index& index) {
    return detail::cut_out(v, tile(v.layout, shape, index));
}
/// The same elements with dimensions a and b exchanged.
/// @throws std::invalid_argument  no such dimensions
template <class T>
[[nodiscard]] View<T> transpose(const View<T>& v, int a, int b) {
    return {v.data, transpose(v.layout, a, b)};
}
/// The same elements with the last two dimensions exchanged, like v.mT in PyTorch.
/// @throws std::invalid_argument  rank < 2
template <class T>
[[nodiscard]] View<T> transpose(const View<T>& v) {
    return {v.data, transpose(v.layout)};
}
/// The same elements with dimension d of the result being order[d] of v.
/// @throws std::invalid_argument  not every dimension exactly once
template <class T>
[[nodiscard]] View<T> permute(const View<T>& v, const Dims& order) {
    return {v.data, permute(v.layout, order)};
}
/// The same elements without the dimensions of extent 1.
template <class T>
[[nodiscard]] View<T> squeeze(const View<T>& v) {
    return {v.data, squeeze(v.layout)};
}
/// The same elements without this dimension, whose extent must be 1.
/// @throws std::invalid_argument  no such dimension; its extent is not 1
template <class T>
[[nodiscard]] View<T> squeeze(const View<T>& v, int dim) {
    return {v.data, squeeze(v.layout, dim)};
}
/// The same elements with a new dimension of extent 1 at position `dim` of the result.
/// @throws std::invalid_argument  no such position; rank 8 already
template <class T>
[[nodiscard]] View<T> unsqueeze(const View<T>& v, int dim) {
    return {v.data, unsqueeze(v.layout, dim)};
}
/// The same elements in row-major order of another shape, whose one extent may be -1. Never a copy.
/// @throws std::invalid_argument  another number of elements; a second -1, or one that is
/// ambiguous; only a copy could have that shape
template <class T>
[[nodiscard]] View<T> reshape(const View<T>& v, const Shape& shape) {
    return {v.data, reshape(v.layout, shape)};
}
/// The same elements, repeated to fill `shape` by strides of 0; not accepted as an output.
/// @throws std::invalid_argument  `shape` has fewer dimensions; another extent that is not 1
template <class T>
[[nodiscard]] View<T> broadcast_to(const View<T>& v, const Shape& shape) {
    return {v.data, broadcast_to(v.layout, shape)};
}
/// Windows of `size` neighbours along `dim`, each `step` after the previous one, along a new last
/// dimension.
/// @throws std::invalid_argument  no such dimension; not 1 <= size <= extent; step < 1; rank 8
/// already
template <class T>
[[nodiscard]] View<T> windows(const View<T>& v, int dim, std::int64_t size, std::int64_t step) {
    return {v.data, windows(v.layout, dim, size, step)};
}

}  // namespace sixdays
