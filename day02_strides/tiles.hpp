/// @file
/// Launchers of the tile kernels. The *_cuda functions call them after checking all arguments.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// @param from  layout of `in` after simplify()
/// @param out   contiguous
void launch_pack_tile(const float* in, const Layout& from, View<float> out, gpu::Stream stream);
/// @param in_pitch, out_pitch  row strides; 0 if there is one row
void launch_pitched_tile(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                         float* out, std::int64_t out_pitch, gpu::Stream stream);

}  // namespace sixdays::day02_strides
