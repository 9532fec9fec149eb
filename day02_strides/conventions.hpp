/// @file
/// Layouts in the conventions of other libraries: strides in bytes, dimensions listed innermost
/// first, a leading dimension, a cache with spare capacity. All host code. Each convention
/// describes the same memory; a pointer alone does not tell which one applies.
#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// The same dimensions, last first, as GGUF files list a tensor's extents: a row-major (V, C) =
/// (50257, 768) is stored as 768, 50257. Its rows still have 768 elements.
[[nodiscard]] Dims innermost_first(const Dims& dims);

/// The strides as NumPy counts them, in bytes.
/// @throws std::invalid_argument  element_bytes < 1, or a product that does not fit in 64 bits
[[nodiscard]] Strides byte_strides(const Layout& layout, std::int64_t element_bytes);

/// The layout with these strides in bytes, as NumPy counts them: the inverse of byte_strides().
/// @throws std::invalid_argument  element_bytes < 1, or a stride that is not a multiple of it (of a
/// dimension with extent above 1); as Layout
[[nodiscard]] Layout from_byte_strides(const Shape& shape, const Strides& bytes,
                                       std::int64_t element_bytes);

/// A matrix (M, K) with rows `pitch` elements apart: strides (pitch, 1).
/// @throws std::invalid_argument  pitch < K
[[nodiscard]] Layout pitched_rows(std::int64_t M, std::int64_t K, std::int64_t pitch);

/// The two strides of a matrix, in elements. Row-major (M, K): row K, column 1. Column-major: row
/// 1, column M.
struct MatrixStrides {
    std::int64_t row;     ///< from a row to the next, in one column
    std::int64_t column;  ///< from a column to the next, in one row
};
/// The strides of a matrix by name. @throws std::invalid_argument  the rank is not 2
[[nodiscard]] MatrixStrides matrix_strides(const Layout& layout);

/// What BLAS calls lda: the stride that is not 1. For a row-major matrix it is the row stride, for
/// a column-major one the column stride.
/// @throws std::invalid_argument  the rank is not 2, or neither stride is 1
[[nodiscard]] std::int64_t leading_dimension(const Layout& layout);

/// The first T positions of a cache of `capacity` positions: shape (B, H, T, D), where heads are
/// still capacity * D elements apart. @throws std::invalid_argument  T > capacity, or a negative
/// extent
[[nodiscard]] Layout cache_filled_to(std::int64_t T, std::int64_t B, std::int64_t H,
                                     std::int64_t capacity, std::int64_t D);

/// Rejects an index of another rank, or one outside the shape.
/// @throws std::invalid_argument  "index (1, 3) of shape (2, 3): index 3 of dim 1 is not in [0, 3)"
void check_index(const Index& index, const Shape& shape);

/// The element at `index`, checked. For tests and examples; loops and kernels use view(i, j).
/// @throws std::invalid_argument  as check_index()
template <class T>
[[nodiscard]] T& at(const View<T>& view, const Index& index) {
    check_index(index, view.shape());
    return view(index);
}

}  // namespace sixdays::day02_strides
