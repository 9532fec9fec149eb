/// @file
/// The launcher of where's step. It checks nothing; the inputs are already broadcast to out's
/// shape.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Step 2: fast division; a and b are loaded before the mask has arrived.
void launch_where_walk(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                       View<float> out, gpu::Stream stream);

}  // namespace sixdays::day03_views
