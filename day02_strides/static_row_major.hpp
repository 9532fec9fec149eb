/// @file
/// Extents and strides that the compiler knows. A layout of numbers is read, multiplied and added
/// when the program runs; one of template arguments is worked out before, and takes no memory: the
/// type is the layout. That pays where extents never change and are used very often: a tile in
/// shared memory (Day 05), a head of 64 channels (Day 06). Everywhere else it would mean a kernel
/// per shape. mdspan has both: extents<int64_t, 3, 4> and dextents<int64_t, 2>.
///
/// A kernel step chosen at run time is the middle way: pack's RANK is known to the compiler, its
/// extents are not (steps/pack/03_by_rank.cu).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/tensor/host_device.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

/// Row-major over `Extents`: StaticRowMajor<3, 4>::stride(0) is 4, a constant.
template <std::int64_t... Extents>
struct StaticRowMajor {
    static constexpr int kRank = sizeof...(Extents);
    static_assert(kRank <= kMaxRank, "a tensor here has at most 8 dims");
    static_assert(((Extents >= 0) && ...), "an extent cannot be negative");

    SIXDAYS_HD static constexpr std::int64_t size() noexcept { return (Extents * ... * 1); }

    SIXDAYS_HD static constexpr std::int64_t extent(int d) noexcept {
        const std::int64_t extents[] = {Extents..., 1};
        return extents[d];
    }

    /// The product of the extents to the right, as row_major() has it.
    SIXDAYS_HD static constexpr std::int64_t stride(int d) noexcept {
        std::int64_t product = 1;
        for (int right = kRank - 1; right > d; --right) {
            product *= extent(right) == 0 ? 1 : extent(right);
        }
        return product;
    }

    /// One index per dim. Unchecked. Horner's rule: ((i * extent(1)) + j) * extent(2) + k ...
    template <class... I>
    SIXDAYS_HD static constexpr std::int64_t offset(I... index) noexcept {
        static_assert(sizeof...(I) == kRank, "one index per dim");
        std::int64_t sum = 0;
        ((sum = sum * Extents + static_cast<std::int64_t>(index)), ...);
        return sum;
    }

    /// The same layout as numbers.
    static Layout layout() { return row_major({Extents...}); }
};

}  // namespace sixdays::day02_strides
