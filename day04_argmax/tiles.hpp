/// @file
/// The launchers of the tile kernels, called by the dispatchers. They check nothing.
#pragma once

#include "common/gpu/stream.hpp"
#include "day04_argmax/lines.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {

/// The tile kernel of argmax, or of argmin if `least`. Nothing is checked.
/// @param lines  what LinePath::tile supports
/// @param out    without the reduced dimensions
void launch_argmax_tile(const Lines& lines, bool least, const View<std::int64_t>& out,
                        gpu::Stream stream);
/// The tile kernel of a reduction. Nothing is checked.
/// @param lines  what LinePath::tile supports
/// @param out    without the reduced dimensions
void launch_reduce_tile(Reduction what, const Lines& lines, const View<float>& out,
                        gpu::Stream stream);

}  // namespace sixdays::day04_argmax
