/// @file
/// The kernels of copy_cuda, for plans that plan_copy() made: unchecked, not empty.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::day03_views {

void launch_straight(const CopyPlan& plan, gpu::Stream stream);
void launch_strided(const CopyPlan& plan, gpu::Stream stream);
void launch_splat(const CopyPlan& plan, gpu::Stream stream);
void launch_tiles(const CopyPlan& plan, gpu::Stream stream);
void launch_short_rows(const CopyPlan& plan, gpu::Stream stream);

/// A copy of more than `most` elements is cut in two along its outermost dim, and so on: kernels
/// count their elements in 31 bits. Calls `launch` for every piece.
template <class F>
void in_pieces(const CopyPlan& plan, std::int64_t most, const F& launch) {
    if (plan.out.layout.size() <= most) return launch(plan);
    const std::int64_t half = plan.out.layout.extent(0) / 2;
    CopyPlan first = plan, second = plan;
    first.in.layout.shape[0] = first.out.layout.shape[0] = half;
    second.in.layout.shape[0] = second.out.layout.shape[0] = plan.out.layout.extent(0) - half;
    second.in.data =
        static_cast<const char*>(plan.in.data) + half * plan.in.layout.stride(0) * plan.in.element;
    second.out.data =
        static_cast<char*>(plan.out.data) + half * plan.out.layout.stride(0) * plan.out.element;
    in_pieces(first, most, launch);
    in_pieces(second, most, launch);
}

}  // namespace sixdays::day03_views
