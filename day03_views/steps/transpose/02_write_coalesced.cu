// Step 2: n and m have changed places: threadIdx.x walks along a row of `out`. Now a warp writes
// 128 bytes in one run and reads 32 elements that lie a row of `in` apart. From here on one launch
// does for a stack of matrices: tile_of_block() says which part of which one is this block's.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int TM = 32, TN = 8;  // a block: 32 rows of 8 columns

// [kernel]
__global__ void transpose_write_coalesced_kernel(const __grid_constant__ Matrices x) {
    const Tile<float> tile = tile_of_block<float>(x, TM, TN);
    const int m = threadIdx.x;
    const int n = threadIdx.y;
    if (m < tile.rows && n < tile.columns) {
        tile.out[n * x.pitch_out + m] = tile.in[m * x.pitch_in + n];
    }
}
// [kernel]

}  // namespace

void launch_transpose_write_coalesced(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, TM, TN);
    const dim3 block(TM, TN);
    transpose_write_coalesced_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("transpose_write_coalesced_kernel", grid, block);
}

}  // namespace sixdays::day03_views
