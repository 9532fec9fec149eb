// Broadcast as a tile kernel (CUDA Tile): stride 0 is a stride like any other, so a tile of a bias
// repeats its elements.
#include "common/gpu/strided_tiles.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/vectorized.hpp"
#include "day03_views/tiles.hpp"

namespace sixdays::day03_views {
namespace {

namespace ct = cuda::tiles;
using gpu::I, gpu::strided_tiles, gpu::four, gpu::tiles_of;

constexpr int kRows = 16, kColumns = 128;

template <int WHOLE>
__tile_global__ void add_broadcast_tile(const float* a, const float* b, I n0, I n1, I n2, I n3,
                                        I a0, I a1, I a2, I a3, I b0, I b1, I b2, I b3, I to0,
                                        I to1, I to2, I to3, float* out) {
    const auto left = strided_tiles<WHOLE, kRows, kColumns>(a, n0, n1, n2, n3, a0, a1, a2, a3);
    const auto right = strided_tiles<WHOLE, kRows, kColumns>(b, n0, n1, n2, n3, b0, b1, b2, b3);
    const auto to = strided_tiles<WHOLE, kRows, kColumns>(out, n0, n1, n2, n3, to0, to1, to2, to3);
    const I down = (n2 + kRows - 1) / kRows, across = (n3 + kColumns - 1) / kColumns;
    const I k = ct::bid().x;
    const I w = k % across, z = k / across % down, y = k / across / down % n1,
            x = k / across / down / n1;
    to.store_masked(left.load_masked(x, y, z, w) + right.load_masked(x, y, z, w), x, y, z, w);
}

}  // namespace

void launch_add_tile(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    const auto n = four(out.shape(), 1), from_a = four(a.layout.strides, 0),
               from_b = four(b.layout.strides, 0), to = four(out.layout.strides, 0);
    const bool whole = has_wider(a.data, a.layout, sizeof(float)) &&
                       has_wider(b.data, b.layout, sizeof(float)) &&
                       has_wider(out.data, out.layout, sizeof(float));
    const auto kernel = whole ? add_broadcast_tile<4> : add_broadcast_tile<1>;
    const unsigned grid = tiles_of(n, kRows, kColumns);
    kernel<<<grid, 1, 0, stream>>>(a.data, b.data, n[0], n[1], n[2], n[3], from_a[0], from_a[1],
                                   from_a[2], from_a[3], from_b[0], from_b[1], from_b[2], from_b[3],
                                   to[0], to[1], to[2], to[3], out.data);
    gpu::check_launch("add_broadcast_tile", grid, 1);
}

}  // namespace sixdays::day03_views
