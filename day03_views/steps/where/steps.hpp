/// @file
/// The launcher of where's step. It checks nothing; the inputs have out's shape by now.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Step 2: a walk that divides fast; a and b are asked for while the mask is still on its way.
void launch_where_walk(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                       View<float> out, gpu::Stream stream);

}  // namespace sixdays::day03_views
