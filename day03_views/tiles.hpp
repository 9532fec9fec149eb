/// @file
/// The launchers of the tile ports, which the dispatchers call, and what these can take.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// A span of tiles has four dims at most here, and strides that are not negative: CUDA Tile C++ has
/// no others. Views as simplify() leaves them.
inline constexpr int kMostTileDims = 4;
[[nodiscard]] bool takes_tiles(const Layout& layout);

/// @param in, out  as simplify() leaves them
void launch_copy_tile(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
void launch_transpose_tiles(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
/// Inputs broadcast to out's shape; all three with as few dims as possible, at least one.
struct AddViews {
    View<const float> a, b;
    View<float> out;
};
[[nodiscard]] AddViews simplified(View<const float> a, View<const float> b, View<float> out);
void launch_add_tile(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day03_views
