/// @file
/// The kernels of copy_cuda, for plans that plan_copy() made: unchecked, not empty.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/matrices.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day03_views {

void launch_straight(const CopyPlan& plan, gpu::Stream stream);
void launch_strided(const CopyPlan& plan, gpu::Stream stream);
void launch_splat(const CopyPlan& plan, gpu::Stream stream);
void launch_tiles(const CopyPlan& plan, gpu::Stream stream);
void launch_short_rows(const CopyPlan& plan, gpu::Stream stream);

/// Short rows without gaps between them, and everything at multiples of 16 bytes?
[[nodiscard]] bool short_rows_are_flat(const Matrices& x, int element);
void launch_short_flat(const Matrices& x, int element, gpu::Stream stream);

/// A copy of more than `most` elements is cut into smaller ones: kernels count their elements in 31
/// bits. Calls `launch` for every piece.
template <class F>
void in_pieces(const CopyPlan& plan, std::int64_t most, const F& launch) {
    const auto launch_piece = [&](const BytesOut& out, const BytesIn& in) {
        launch(CopyPlan{plan.path, in, out, plan.across});
    };
    in_pieces(most + 1, launch_piece, plan.out, plan.in);
}

}  // namespace sixdays::day03_views
