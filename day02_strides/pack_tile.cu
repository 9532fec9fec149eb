// Pack as a tile kernel (CUDA Tile): two spans of the same shape, and each block copies one tile
// between them. The first span has the strides of `in`. The second is given only extents, because
// a span is row-major by default.
#include "common/gpu/strided_tiles.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/vectorized.hpp"
#include "day02_strides/tiles.hpp"

namespace sixdays::day02_strides {
namespace {

namespace ct = cuda::tiles;
using gpu::I, gpu::four;

template <int WHOLE, int ROWS, int COLUMNS>
__tile_global__ void pack_tile(const float* in, I n0, I n1, I n2, I n3, I s0, I s1, I s2, I s3,
                               float* out) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    constexpr int kBytes = WHOLE == 1 ? 4 : 16;
    // [pack]
    const auto from = gpu::strided_tiles<WHOLE, ROWS, COLUMNS>(in, n0, n1, n2, n3, s0, s1, s2, s3);
    const ct::extents<I, kAny, kAny, kAny, kAny> packed{n0, n1, n2,
                                                        ct::assume_divisible<WHOLE>(n3)};
    const ct::partition_view to{ct::tensor_span{ct::assume_aligned<kBytes>(out), packed},
                                ct::shape<1, 1, ROWS, COLUMNS>{}};
    const I down = (n2 + ROWS - 1) / ROWS, across = (n3 + COLUMNS - 1) / COLUMNS;
    const I k = ct::bid().x;  // the flat tile index, split into indices, last dimension first
    const I d = k % across, c = k / across % down, b = k / across / down % n1,
            a = k / across / down / n1;
    to.store_masked(from.load_masked(a, b, c, d), a, b, c, d);
    // [pack]
}

template <int WHOLE, int ROWS, int COLUMNS>
void launch(const float* in, const std::array<I, 4>& n, const std::array<I, 4>& s, float* out,
            gpu::Stream stream) {
    const unsigned grid = gpu::tiles_of(n, ROWS, COLUMNS);
    pack_tile<WHOLE, ROWS, COLUMNS>
        <<<grid, 1, 0, stream>>>(in, n[0], n[1], n[2], n[3], s[0], s[1], s[2], s[3], out);
    gpu::check_launch("pack_tile", grid, 1);
}

}  // namespace

void launch_pack_tile(const float* in, const Layout& from, View<float> out, gpu::Stream stream) {
    const auto n = four(from.shape, 1), s = four(from.strides, 0);
    const bool whole =
        has_wider(in, from, sizeof(float)) && has_wider(out.data, row_major(from.shape), 4);
    if (from.rank() <= 1) {  // one row
        return whole ? launch<4, 1, 4096>(in, n, s, out.data, stream)
                     : launch<1, 1, 4096>(in, n, s, out.data, stream);
    }
    whole ? launch<4, 64, 64>(in, n, s, out.data, stream)
          : launch<1, 64, 64>(in, n, s, out.data, stream);
}

}  // namespace sixdays::day02_strides
