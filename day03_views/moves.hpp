/// @file
/// The kernels of copy_cuda, for plans that plan_copy() made: unchecked, not empty.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/matrices.hpp"

namespace sixdays::day03_views {

void launch_straight(const CopyPlan& plan, gpu::Stream stream);
void launch_strided(const CopyPlan& plan, gpu::Stream stream);
void launch_splat(const CopyPlan& plan, gpu::Stream stream);
void launch_tiles(const CopyPlan& plan, gpu::Stream stream);
void launch_short_rows(const CopyPlan& plan, gpu::Stream stream);

/// Short rows without gaps between them, and everything at multiples of 16 bytes?
[[nodiscard]] bool short_rows_are_flat(const Matrices& x, int element);
void launch_short_flat(const Matrices& x, int element, gpu::Stream stream);

/// A copy of more than `most` elements is cut in two along its outermost dim that can be cut, and
/// so on: kernels count their elements in 31 bits. Calls `launch` for every piece.
template <class F>
void in_pieces(const CopyPlan& plan, std::int64_t most, const F& launch) {
    if (plan.out.layout.size() <= most) return launch(plan);
    int d = 0;
    while (plan.out.layout.extent(d) == 1) ++d;
    const std::int64_t all = plan.out.layout.extent(d), half = all / 2;
    CopyPlan first = plan, second = plan;
    first.in.layout.shape[d] = first.out.layout.shape[d] = half;
    second.in.layout.shape[d] = second.out.layout.shape[d] = all - half;
    second.in.data =
        static_cast<const char*>(plan.in.data) + half * plan.in.layout.stride(d) * plan.in.element;
    second.out.data =
        static_cast<char*>(plan.out.data) + half * plan.out.layout.stride(d) * plan.out.element;
    in_pieces(first, most, launch);
    in_pieces(second, most, launch);
}

}  // namespace sixdays::day03_views
