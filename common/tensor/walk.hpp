/// @file
/// Strided index iteration over layouts of any rank inside a kernel: a Walk converts the flat index
/// of an element to its offset in every tensor at once.
///
/// unravel() divides once per dimension, and on a GPU a 64-bit division takes longer than the
/// memory access that it prepares. So the host precomputes: simplify() leaves few dimensions, their
/// extents become divisors (fast_division.hpp), and flat indices have 32 bits. A tensor of 2^31
/// elements or more is cut into pieces that have fewer, and each piece gets its own launch:
///
///     in_pieces(kWalkable, [&](auto to, auto from) {                    // views of one shape
///         const auto layouts = simplify(to.layout, from.layout);
///         with_rank(layouts[0].rank(), [&](auto rank) {
///             const Walk<rank, 2> walk(layouts);                        // goes to the kernel
///             ...
///         });
///     }, out, in);
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "common/tensor/fast_division.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays {

/// A Walk counts fewer elements than this.
inline constexpr std::int64_t kWalkable = std::int64_t{1} << 31;

/// One offset per tensor, in elements.
template <int TENSORS>
struct Offsets {
    /// of[t] belongs to tensor t.
    std::int64_t of[TENSORS];
};

/// Flat index to the offsets of TENSORS layouts of one shape, of rank RANK. Prepared on the host:
/// divisors instead of divisions. Plain numbers, passed to a kernel by value. Both parameters are
/// compile-time constants, so every loop is unrolled and no array is indexed at run time.
template <int RANK, int TENSORS>
struct Walk {
    std::uint32_t size = 1;               ///< elements
    FastDivisor extents[RANK];            ///< outermost dimension first
    std::int64_t strides[TENSORS][RANK];  ///< of each tensor, in elements

    /// Prepares these layouts.
    /// @param layouts  of one shape, of rank RANK or less: extents of 1 are put in front. Fewer
    /// than kWalkable elements, and at least one; unchecked
    explicit Walk(const std::array<Layout, TENSORS>& layouts) {
        const int added = RANK - layouts[0].rank();
        size = static_cast<std::uint32_t>(layouts[0].size());
        for (int d = 0; d < RANK; ++d) {
            if (d >= added) extents[d] = FastDivisor(layouts[0].extent(d - added));
            for (std::size_t t = 0; t < TENSORS; ++t) {
                strides[t][d] = d >= added ? layouts[t].stride(d - added) : 0;
            }
        }
    }

    // [offsets]
    /// The offset of element `number`, counted row-major, in every tensor.
    /// Unravels `number` from the inside out, and adds each index to the offset
    /// of every tensor. The last quotient is the index of the outermost dimension.
    SIXDAYS_HD Offsets<TENSORS> offsets(std::uint32_t number) const noexcept {
        Offsets<TENSORS> sum{};
        for (int d = RANK - 1; d >= 0; --d) {
            const std::uint32_t rest = d > 0 ? extents[d].quotient(number) : 0;
            const std::uint32_t index = number - rest * extents[d].divisor;
            for (int t = 0; t < TENSORS; ++t) {
                sum.of[t] += index * strides[t][d];
            }
            number = rest;
        }
        return sum;
    }
    // [offsets]
};

/// Calls f with the rank as a std::integral_constant; 5, 6 and 7 are rounded up to 8. Most layouts
/// have few dimensions after simplify(), and every constant is another kernel to compile.
template <class F>
void with_rank(int rank, const F& f) {
    if (rank <= 1) return f(std::integral_constant<int, 1>{});
    if (rank == 2) return f(std::integral_constant<int, 2>{});
    if (rank == 3) return f(std::integral_constant<int, 3>{});
    if (rank == 4) return f(std::integral_constant<int, 4>{});
    return f(std::integral_constant<int, kMaxRank>{});
}

/// A slice of a part: indices begin to end - 1 along `dim`. Its `first` counts from index (0, 0,
/// ...) of the whole.
/// @throws std::invalid_argument  as slice() of a layout
[[nodiscard]] inline Cut slice(const Cut& whole, int dim, std::int64_t begin, std::int64_t end) {
    Cut part = slice(whole.layout, dim, begin, end);
    part.first += whole.first;
    return part;
}

/// Cuts the tensors into pieces of fewer than `limit` elements, by repeated halving along the
/// longest dimension, and calls f(pieces...) for each. All have one shape; each is a View, a Cut,
/// or any type that has a `layout` and a slice(). A piece is empty only if the whole is.
template <class F, class First, class... Rest>
void in_pieces(std::int64_t limit, const F& f, const First& first, const Rest&... rest) {
    const Layout& layout = first.layout;
    if (layout.size() < limit) return f(first, rest...);
    int longest = 0;
    for (int d = 1; d < layout.rank(); ++d) {
        if (layout.extent(d) > layout.extent(longest)) longest = d;
    }
    const std::int64_t end = layout.extent(longest), half = end / 2;
    in_pieces(limit, f, slice(first, longest, 0, half), slice(rest, longest, 0, half)...);
    in_pieces(limit, f, slice(first, longest, half, end), slice(rest, longest, half, end)...);
}

}  // namespace sixdays
