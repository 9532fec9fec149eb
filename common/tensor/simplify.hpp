/// @file
/// The same walk with fewer dims: what a launcher does to its layouts before it chooses a kernel.
///
/// An operation that treats all elements alike (copy, add) does not care in which order it meets
/// them, only which belong together. So dims may be dropped, reordered and merged, if the same is
/// done to all of its tensors. Fewer dims mean fewer divisions in the kernel, and a copy of a
/// contiguous tensor of any rank becomes a walk along one dim.
///
/// Example: copy every second block of a (4, 3, 4) tensor into a contiguous one, shape (2, 1, 3,
/// 4).
///
///                                    shape          out strides      in strides
///     as given                       (2, 1, 3, 4)   (12, 12, 4, 1)   (24, 12, 4, 1)
///     drop dims of extent 1          (2, 3, 4)      (12, 4, 1)       (24, 4, 1)
///     sort by out's stride           (2, 3, 4)      (12, 4, 1)       (24, 4, 1)   was sorted
///     merge 3 and 4: 4 = 4 * 1       (2, 12)        (12, 1)          (24, 1)
///     merge 2 and 12? 12 = 12 * 1    yes for out, but 24 is not 12 * 1: no
///
/// Two rows of 12 remain, 24 apart in the source.
#pragma once

#include <array>

#include "common/tensor/layout.hpp"

namespace sixdays {

namespace detail {
void simplify(Layout* layouts, int count);
}

/// Drops dims of extent 1, sorts the rest by |stride| of the first layout, largest first (ties: of
/// the second, and so on), and merges neighbours wherever all layouts allow it: where one step of
/// the outer dim is as long as walking the inner one to its end. Name the output first: its writes
/// then run along memory.
///
/// Elements that had one index in common have one in common afterwards, at the same offsets. No
/// pointer moves, so a flipped dim stays flipped; flips that all layouts share do merge. Without
/// elements, the result is shape (0).
/// @throws std::invalid_argument  the shapes differ
template <class... Layouts>
[[nodiscard]] std::array<Layout, sizeof...(Layouts)> simplify(const Layouts&... layouts) {
    static_assert(sizeof...(Layouts) > 0, "there is nothing to simplify");
    std::array<Layout, sizeof...(Layouts)> result{layouts...};
    detail::simplify(result.data(), static_cast<int>(result.size()));
    return result;
}

}  // namespace sixdays
