// Wrong on purpose: the row and its offset are counted in 32 bits, which end at 2^31.
//
// case: rows and matrices past 2^32 elements
// refused: 16 * 268435512 does not fit into 'int'
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 8, BN = 32;  // a block's outputs: 8 rows of 32, a warp each

__global__ void matmul_lanes_along_n_kernel(const __grid_constant__ Problem x) {
    const Tile tile = tile_of_block(x, BM, BN);
    const int m = blockIdx.x / x.across % x.down * BM + threadIdx.y;
    const int from = m * static_cast<int>(x.a_m);
    const int n = threadIdx.x;
    if (m < x.M && n < tile.columns) {
        float sum = 0;
        for (std::int64_t k = 0; k < x.K; ++k) {
            sum += x.a[from + k * x.a_k] * tile.b[k * x.b_k + n * x.b_n];
        }
        store(x, tile, threadIdx.y, n, sum);
    }
}

}  // namespace

void launch_matmul_lanes_along_n(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    const dim3 block(BN, BM);
    matmul_lanes_along_n_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("matmul_lanes_along_n_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
