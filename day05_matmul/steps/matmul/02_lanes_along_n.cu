// Step 2: m and n are swapped: threadIdx.x runs along a row of `out`. The 32 lanes of a warp now
// read 32 adjacent elements of row k of b, 4 sectors, and all of them the same element of a. In
// step 1 they read 32 elements of a that are a row apart: 32 sectors, of which one eighth is used.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 8, BN = 32;  // a block's outputs: 8 rows of 32, one warp per row

// [kernel]
__global__ void matmul_lanes_along_n_kernel(const __grid_constant__ Problem x) {
    const Tile tile = tile_of_block(x, BM, BN);
    const int m = threadIdx.y;
    const int n = threadIdx.x;
    if (m < tile.rows && n < tile.columns) {
        float sum = 0;
        for (std::int64_t k = 0; k < x.K; ++k) {
            sum += tile.a[m * x.a_m + k * x.a_k] * tile.b[k * x.b_k + n * x.b_n];
        }
        store(x, tile, m, n, sum);
    }
}
// [kernel]

}  // namespace

void launch_matmul_lanes_along_n(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    const dim3 block(BN, BM);
    matmul_lanes_along_n_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("matmul_lanes_along_n_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
