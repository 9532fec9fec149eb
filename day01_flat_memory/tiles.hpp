/// @file
/// Launchers of the tile kernels. The *_cuda functions call them after checking all arguments.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day01_flat_memory {

/// The tile kernel of the operation in its name. Arguments are already checked; `out` has elements.
void launch_square_tile(View<const float> in, View<float> out, gpu::Stream stream);
void launch_scale_tile(float alpha, View<const float> in, View<float> out, gpu::Stream stream);
void launch_saxpy_tile(float alpha, View<const float> x, View<const float> y, View<float> out,
                       gpu::Stream stream);
void launch_add_tile(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);
void launch_invert_tile(View<const std::uint8_t> in, View<std::uint8_t> out, gpu::Stream stream);
void launch_indices_tile(std::int64_t base, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day01_flat_memory
