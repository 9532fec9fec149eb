/// @file
/// Launchers of the tile kernels, and the arguments that they support.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/view.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

using gpu::kMostTileDims, gpu::takes_tiles;

/// @param in, out  after simplify()
void launch_copy_tile(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
void launch_transpose_tiles(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
/// Inputs broadcast to out's shape; all three with as few dimensions as possible, at least one.
struct AddViews {
    View<const float> a, b;
    View<float> out;
};
[[nodiscard]] AddViews simplified(View<const float> a, View<const float> b, View<float> out);
void launch_add_tile(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day03_views
