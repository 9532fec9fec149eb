/// @file
/// Launchers of the tile kernels, and the arguments that they support.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/view.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

using gpu::kMostTileDims, gpu::takes_tiles;

/// The tile kernel of a copy. Nothing is checked.
/// @param in, out  after simplify(), at least one dimension; what CopyPath::tile supports
void launch_copy_tile(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
/// The tile kernel of a transpose, for each matrix of a stack. Nothing is checked: what
/// TransposePath::tile supports.
void launch_transpose_tiles(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);
/// The views of add_broadcast, as kernels take them: inputs broadcast to out's shape; all three
/// with as few dimensions as possible, at least one.
struct AddViews {
    View<const float> a,  ///< first input
        b;                ///< second input
    View<float> out;      ///< the output
};
/// a and b broadcast to out's shape, and all three simplified together.
/// @throws std::invalid_argument  an input that cannot be broadcast
[[nodiscard]] AddViews simplified(View<const float> a, View<const float> b, View<float> out);
/// The tile kernel of add_broadcast. Nothing is checked: what AddBroadcastPath::tile supports.
void launch_add_tile(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day03_views
