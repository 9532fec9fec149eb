/// @file
/// How the kernels of `combine` walk several layouts by one number.
///
/// An unravel divides once per dim. 64-bit divisions would cost more than the memory accesses that
/// they prepare, so numbers are 32-bit and the divisors are prepared (FastDivisor). A tensor too
/// large for that is cut into pieces that are not, and each gets a launch of its own.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "common/tensor/fast_division.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day03_views {

/// Numbers below this one fit a Walk.
inline constexpr std::int64_t kWalkable = std::int64_t{1} << 31;

/// One offset per tensor.
template <int TENSORS>
struct Offsets {
    std::int64_t of[TENSORS];
};

/// RANK dims that TENSORS layouts of one shape have in common. Plain numbers: a kernel takes it by
/// value. RANK is known to the compiler, so its loops are written out and nothing is indexed.
template <int RANK, int TENSORS>
struct Walk {
    std::uint32_t size = 1;
    FastDivisor extents[RANK];            // outermost first
    std::int64_t strides[TENSORS][RANK];  // of each tensor, in elements

    /// @param layouts  of one shape, of rank RANK or less: dims of extent 1 are put in front
    explicit Walk(const std::array<Layout, TENSORS>& layouts) {
        const int added = RANK - layouts[0].rank();
        size = static_cast<std::uint32_t>(layouts[0].size());
        for (int d = 0; d < RANK; ++d) {
            if (d >= added) extents[d] = FastDivisor(layouts[0].extent(d - added));
            for (int t = 0; t < TENSORS; ++t) {
                strides[t][d] =
                    d >= added ? layouts[static_cast<std::size_t>(t)].stride(d - added) : 0;
            }
        }
    }

    // [offsets]
    /// Unravels `number` from the inside out, and each index goes into the sum
    /// of every tensor at once. The outermost dim takes what is left.
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

/// Calls f with the rank as a constant; 5, 6 and 7 are walked as 8. Most layouts have few dims left
/// after simplify(), and every further constant is a further kernel to compile.
template <class F>
void with_rank(int rank, const F& f) {
    if (rank <= 1) return f(std::integral_constant<int, 1>{});
    if (rank == 2) return f(std::integral_constant<int, 2>{});
    if (rank == 3) return f(std::integral_constant<int, 3>{});
    if (rank == 4) return f(std::integral_constant<int, 4>{});
    return f(std::integral_constant<int, kMaxRank>{});
}

/// A slice of what is a part already.
[[nodiscard]] inline Cut slice(const Cut& whole, int dim, std::int64_t begin, std::int64_t end) {
    Cut part = slice(whole.layout, dim, begin, end);
    part.first += whole.first;
    return part;
}

/// Calls f(views...) for pieces of fewer than `limit` elements that are all of them together: cut
/// in half along the longest dim, again and again. All have one shape; `rest` may be views or cuts.
template <class F, class T, class... U>
void in_pieces(std::int64_t limit, const F& f, const View<T>& first, const U&... rest) {
    if (first.size() < limit) return f(first, rest...);
    int longest = 0;
    for (int d = 1; d < first.rank(); ++d) {
        if (first.extent(d) > first.extent(longest)) longest = d;
    }
    const std::int64_t end = first.extent(longest), half = end / 2;
    in_pieces(limit, f, slice(first, longest, 0, half), slice(rest, longest, 0, half)...);
    in_pieces(limit, f, slice(first, longest, half, end), slice(rest, longest, half, end)...);
}

/// Can a simplified layout of floats be walked in quads of four neighbours along its last dim? They
/// must fill 16 bytes that begin at a multiple of 16, in every row; or be one place seen four
/// times.
[[nodiscard]] inline bool takes_quads(const Layout& layout, const float* data) {
    const int last = layout.rank() - 1;
    if (last < 0 || layout.extent(last) % 4 != 0) return false;
    if (layout.stride(last) == 0) return true;
    bool aligned = layout.stride(last) == 1 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
    for (int d = 0; d < last; ++d) aligned = aligned && layout.stride(d) % 4 == 0;
    return aligned;
}

/// The layout of the quads: a fourth of the elements along the last dim, four times as far apart.
/// Strides still count floats.
[[nodiscard]] inline Layout quads_of(Layout layout) {
    const int last = layout.rank() - 1;
    layout.shape[last] /= 4;
    layout.strides[last] *= 4;
    return layout;
}

}  // namespace sixdays::day03_views
