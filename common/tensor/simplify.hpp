/// @file
/// Equivalent layouts with fewer dimensions. A launcher simplifies before it chooses a kernel.
///
/// An elementwise operation (copy, add) may process elements in any order, as long as corresponding
/// elements stay together. So dimensions may be dropped, reordered and merged, if the same is done
/// to all of its tensors. Fewer dimensions mean fewer divisions in the kernel, and a copy of a
/// contiguous tensor of any rank has a single dimension.
///
/// Example: copy every second block of a (4, 3, 4) tensor into a contiguous one, shape (2, 1, 3,
/// 4).
///
///                                    shape          out strides      in strides
///     as given                       (2, 1, 3, 4)   (12, 12, 4, 1)   (24, 12, 4, 1)
///     drop extents of 1              (2, 3, 4)      (12, 4, 1)       (24, 4, 1)
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

/// Equivalent layouts with fewer dimensions, so that a kernel divides less to find an element and
/// copies longer runs. Drops dimensions of extent 1, sorts the rest by |stride| of the first
/// layout, largest first (ties: by the second, and so on), and merges neighbours wherever all
/// layouts allow it: where the outer stride is the inner stride times the inner extent. Pass the
/// output first, so that its writes are contiguous.
///
/// Elements with the same index before have the same index afterwards, at the same offsets. No
/// pointer moves, so a flipped dimension stays flipped; flips shared by all layouts can merge.
/// Without elements, the result is shape (0).
/// @throws std::invalid_argument  the shapes differ
template <class... Layouts>
[[nodiscard]] std::array<Layout, sizeof...(Layouts)> simplify(const Layouts&... layouts) {
    static_assert(sizeof...(Layouts) > 0, "there is nothing to simplify");
    std::array<Layout, sizeof...(Layouts)> result{layouts...};
    detail::simplify(result.data(), static_cast<int>(result.size()));
    return result;
}

}  // namespace sixdays
