/// @file
/// The launchers of add_broadcast's steps. They check nothing; a and b have out's shape by now.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Step 2: a walk that divides fast, four loads in flight.
void launch_add_walk(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

/// Step 3: quads.
void launch_add_quads(View<const float> a, View<const float> b, View<float> out,
                      gpu::Stream stream);

}  // namespace sixdays::day03_views
