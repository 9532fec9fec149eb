/// @file
/// Shape, strides, and the central formula of this project: from a multi-index to an offset.
///
/// Memory is one run of elements. `shape` gives the number of indices of each dimension, and
/// `strides` the distance, in elements, between neighbours along it. Element (i0, i1, ...) is at
///
///     offset = i0 * strides[0] + i1 * strides[1] + ...
///
/// Everything here counts elements, never bytes (NumPy's `strides` are bytes), in signed 64-bit.
/// The terms are those of mdspan: extent, rank, stride, required span. layout_right is called
/// row-major here, and layout_left column-major.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "common/tensor/host_device.hpp"

namespace sixdays {

/// The most dimensions that a tensor here may have.
inline constexpr int kMaxRank = 8;

/// Up to 8 signed 64-bit numbers, one per dimension, outermost first. A fixed array and not a
/// vector, so that it is trivially copyable into a kernel's arguments.
struct Dims {
    int rank = 0;                       ///< how many of the numbers count, 0 to 8
    std::int64_t value[kMaxRank] = {};  ///< value[0] is outermost; 0 from the rank on

    /// Rank 0: no numbers.
    constexpr Dims() = default;

    /// Dims{2, 3, 4}. @throws std::invalid_argument  more than 8 numbers
    constexpr Dims(std::initializer_list<std::int64_t> values) {
        if (values.size() > kMaxRank) reject_rank(static_cast<std::int64_t>(values.size()));
        for (const std::int64_t number : values) value[rank++] = number;
    }

    /// `rank` times the same number. @throws std::invalid_argument  rank not in 0..8
    static constexpr Dims filled(int rank, std::int64_t number) {
        if (rank < 0 || rank > kMaxRank) reject_rank(rank);
        Dims dims;
        while (dims.rank < rank) dims.value[dims.rank++] = number;
        return dims;
    }

    /// The number of dimension d. Unchecked: 0 <= d < 8.
    SIXDAYS_HD constexpr std::int64_t operator[](int d) const noexcept { return value[d]; }
    /// The number of dimension d, assignable. Unchecked: 0 <= d < 8.
    SIXDAYS_HD constexpr std::int64_t& operator[](int d) noexcept { return value[d]; }

    /// Same rank and the same numbers in it.
    friend constexpr bool operator==(const Dims& a, const Dims& b) noexcept {
        if (a.rank != b.rank) return false;
        for (int d = 0; d < a.rank; ++d) {
            if (a[d] != b[d]) return false;
        }
        return true;  // elements beyond the rank do not count
    }

private:
    [[noreturn]] static void reject_rank(std::int64_t rank);
};

using Shape = Dims;    ///< extents: the number of indices per dimension, 0 <= index < extent
using Strides = Dims;  ///< distance in elements when an index grows by one; may be 0 or negative
using Index = Dims;    ///< one index per dimension: identifies an element of a shape

/// "(2, 3, 4)"; rank 0 is "()".
std::string to_string(const Dims& dims);

/// Number of elements: the product of the extents. Rank 0 has one, an extent of 0 none.
/// @throws std::invalid_argument  a negative extent, or a product that does not fit in 63 bits
/// (that check ignores extents of 0: (0, 2^40, 2^40) is rejected)
[[nodiscard]] std::int64_t size(const Shape& shape);

/// A shape and its strides: where each element of a tensor is. Checked on construction, plain
/// numbers afterwards, so a kernel takes it by value.
struct Layout {
    Shape shape;      ///< extents, outermost dimension first
    Strides strides;  ///< in elements, one per dimension

    Layout() = default;  ///< rank 0: one element, at offset 0

    /// Any strides: zero, negative, overlapping.
    /// @throws std::invalid_argument  ranks differ, a negative extent, a size or an offset that
    /// does not fit in 64 bits
    Layout(const Shape& shape, const Strides& strides);

    /// The number of dimensions.
    SIXDAYS_HD int rank() const noexcept { return shape.rank; }
    /// The number of indices along dimension d. Unchecked: 0 <= d < rank.
    SIXDAYS_HD std::int64_t extent(int d) const noexcept { return shape[d]; }
    /// Elements from one index of dimension d to the next. Unchecked: 0 <= d < rank.
    SIXDAYS_HD std::int64_t stride(int d) const noexcept { return strides[d]; }

    /// The extent of dimension d, assignable. Unchecked.
    SIXDAYS_HD std::int64_t& extent(int d) noexcept { return shape[d]; }
    /// The stride of dimension d, assignable: layout.stride(0) = -8. Unchecked.
    SIXDAYS_HD std::int64_t& stride(int d) noexcept { return strides[d]; }

    /// The number of elements: the product of the extents. Cannot overflow after the constructor's
    /// check.
    SIXDAYS_HD std::int64_t size() const noexcept {
        std::int64_t n = 1;
        for (int d = 0; d < rank(); ++d) n *= shape[d];
        return n;
    }
};

/// Strides for a shape whose last dimension is the fast one: stride 1, then products to the left.
/// row_major({2, 3, 4}) has strides (12, 4, 1). C's and NumPy's order; mdspan's layout_right.
/// @throws std::invalid_argument  as size(shape)
[[nodiscard]] Layout row_major(const Shape& shape);

/// Strides for a shape whose first dimension is the fast one: column_major({2, 3, 4}) has (1, 2,
/// 6). Fortran's and BLAS's order; mdspan's layout_left.
/// @throws std::invalid_argument  as size(shape)
[[nodiscard]] Layout column_major(const Shape& shape);

/// Offset of the element at `index`, in elements from index (0, 0, ...). Unchecked.
///
/// The loop counts to the constant 8 and not to the rank, so that the compiler can unroll it in a
/// kernel: an array indexed by a loop variable would be in (slow) local memory.
// [offset]
SIXDAYS_HD inline std::int64_t offset(const Layout& layout, const Index& index) noexcept {
    std::int64_t sum = 0;
    for (int d = 0; d < kMaxRank; ++d) {
        if (d < layout.rank()) sum += index[d] * layout.strides[d];
    }
    return sum;
}
// [offset]

/// Offset of the element at (first, rest...), one index per dimension: offset(layout, b, t, c). In
/// elements from index (0, 0, ...). Unchecked.
template <class... I>
SIXDAYS_HD inline std::int64_t offset(const Layout& layout, std::int64_t first,
                                      I... rest) noexcept {
    const std::int64_t index[] = {first, static_cast<std::int64_t>(rest)...};
    std::int64_t sum = 0;
    for (int d = 0; d < 1 + static_cast<int>(sizeof...(rest)); ++d) {
        sum += index[d] * layout.strides[d];
    }
    return sum;
}

/// The lowest and the highest offset of any index of a layout, in elements.
struct Reach {
    std::int64_t lowest;   ///< <= 0; 0 without negative strides
    std::int64_t highest;  ///< >= 0; -1 for a layout without elements
};
/// The lowest and the highest offset of any index; {0, -1} for a layout without elements.
[[nodiscard]] Reach reach(const Layout& layout);

/// The number of elements in memory from the lowest to the highest offset, both included; 0 if
/// there are no elements. A dimension of stride 0 adds none; a pitch includes the gaps. mdspan's
/// required_span_size.
[[nodiscard]] std::int64_t required_span(const Layout& layout);

/// Whether the offsets in index order, last dimension fastest, are 0, 1, 2, ... without a gap.
/// Strides of dimensions of extent 1 are never used, so they are ignored.
[[nodiscard]] bool is_contiguous(const Layout& layout);

/// Whether all indices have different offsets (mdspan: unique). If not, two writers may race.
/// Exact when the sorted strides prove it or when there are at most 2^16 elements to enumerate;
/// above that the answer is no, so that "yes" is always reliable.
[[nodiscard]] bool is_injective(const Layout& layout);

/// Whether shapes are equal, and strides too wherever an extent is above 1.
[[nodiscard]] bool equivalent(const Layout& a, const Layout& b);

/// "shape (2, 3), strides (3, 1)"
std::string to_string(const Layout& layout);

}  // namespace sixdays
