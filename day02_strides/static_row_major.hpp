/// @file
/// Compile-time extents and strides. A Layout holds numbers that are read and multiplied at run
/// time. Here they are template arguments: the compiler folds them, and the type is the layout.
/// That pays off where extents never change and are used very often: a tile in shared memory (Day
/// 05), a head of 64 channels (Day 06). Anywhere else it would mean one kernel per shape. mdspan
/// offers both: extents<int64_t, 3, 4> and dextents<int64_t, 2>.
///
/// There is a middle way: in pack the rank is known at compile time and the extents are not
/// (steps/pack/03_by_rank.cu).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/tensor/host_device.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

/// A row-major layout over `Extents`, known at compile time: StaticRowMajor<3, 4>::stride(0) is 4,
/// a constant. The compiler folds them, and the type is the layout.
template <std::int64_t... Extents>
struct StaticRowMajor {
    /// The number of dimensions.
    static constexpr int kRank = sizeof...(Extents);
    static_assert(kRank <= kMaxRank, "a tensor here has at most 8 dimensions");
    static_assert(((Extents >= 0) && ...), "an extent cannot be negative");

    /// The number of elements: the product of the extents.
    SIXDAYS_HD static constexpr std::int64_t size() noexcept { return (Extents * ... * 1); }

    /// The number of indices along dimension d. Unchecked: 0 <= d < kRank.
    SIXDAYS_HD static constexpr std::int64_t extent(int d) noexcept {
        const std::int64_t extents[] = {Extents..., 1};
        return extents[d];
    }

    /// Elements from one index of dimension d to the next: the product of the extents to the right,
    /// as in row_major().
    SIXDAYS_HD static constexpr std::int64_t stride(int d) noexcept {
        std::int64_t product = 1;
        for (int right = kRank - 1; right > d; --right) {
            product *= extent(right) == 0 ? 1 : extent(right);
        }
        return product;
    }

    /// Offset of the element at this index, one number per dimension. Unchecked. Horner's rule: ((i
    /// * extent(1)) + j) * extent(2) + k ...
    template <class... I>
    SIXDAYS_HD static constexpr std::int64_t offset(I... index) noexcept {
        static_assert(sizeof...(I) == kRank, "one index per dimension");
        std::int64_t sum = 0;
        ((sum = sum * Extents + static_cast<std::int64_t>(index)), ...);
        return sum;
    }

    /// This layout at run time, as row_major() gives it.
    static Layout layout() { return row_major({Extents...}); }
};

}  // namespace sixdays::day02_strides
