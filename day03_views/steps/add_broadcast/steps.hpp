/// @file
/// The launchers of add_broadcast's steps. They check nothing; a and b already have out's shape.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Step 2: fast division, four loads in flight.
void launch_add_walk(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

/// Step 3: float4.
void launch_add_vectorized(View<const float> a, View<const float> b, View<float> out,
                           gpu::Stream stream);

}  // namespace sixdays::day03_views
