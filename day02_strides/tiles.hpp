/// @file
/// The launchers of the tile ports, which the dispatchers call. They check nothing.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// @param from  in's layout as simplify() leaves it
/// @param out   contiguous
void launch_pack_tile(const float* in, const Layout& from, View<float> out, gpu::Stream stream);
/// @param in_pitch, out_pitch  steps from row to row; 0 if there is one row
void launch_pitched_tile(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                         float* out, std::int64_t out_pitch, gpu::Stream stream);

}  // namespace sixdays::day02_strides
