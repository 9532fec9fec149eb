// Padded rows as a tile kernel (CUDA Tile): the pitch is the stride of dimension 0, and dimension 1
// has stride 1. The padding between the rows of `out` is outside its span, so masked stores do not
// touch it.
#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day02_strides/tiles.hpp"

namespace sixdays::day02_strides {
namespace {

namespace ct = cuda::tiles;
using I = std::int64_t;

constexpr int kRows = 16, kColumns = 256;

/// WHOLE > 1 guarantees that the row length is a multiple of WHOLE elements and that rows begin at
/// multiples of 16 bytes.
template <int WHOLE, class T>
__tile__ auto rows(T* data, I M, I K, I pitch) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::layout_strided_mapping layout{
        ct::extents<I, kAny, kAny>{M, ct::assume_divisible<WHOLE>(K)},
        ct::strides<I, kAny, 1>{ct::assume_divisible<WHOLE>(pitch)}};
    const ct::tensor_span span{ct::assume_aligned<4 * WHOLE>(data), layout};
    return ct::partition_view{span, ct::shape<kRows, kColumns>{}};
}

template <int WHOLE>
__tile_global__ void pitched_tile(const float* in, I in_pitch, I M, I K, float* out, I out_pitch) {
    const I across = (K + kColumns - 1) / kColumns;
    const I m = ct::bid().x / across, k = ct::bid().x % across;
    const auto x = rows<WHOLE>(in, M, K, in_pitch).load_masked(m, k);
    rows<WHOLE>(out, M, K, out_pitch).store_masked(x, m, k);
}

}  // namespace

void launch_pitched_tile(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                         float* out, std::int64_t out_pitch, gpu::Stream stream) {
    const bool whole = (K | in_pitch | out_pitch) % 4 == 0 && gpu::all_at_16_bytes(in, out);
    const auto kernel = whole ? pitched_tile<4> : pitched_tile<1>;
    const unsigned grid =
        gpu::blocks_for((M + kRows - 1) / kRows * ((K + kColumns - 1) / kColumns), 1);
    kernel<<<grid, 1, 0, stream>>>(in, in_pitch, M, K, out, out_pitch);
    gpu::check_launch("pitched_tile", grid, 1);
}

}  // namespace sixdays::day02_strides
