// Step 5: a thread of step 3 loads two words from shared memory per multiply-add. Shared memory
// delivers 32 words per cycle to an SM, which could do 128 multiply-adds per cycle. Here a thread
// has a column of 8 outputs (register tiling): an element of b, once in a register, serves all 8.
// That is nine loads for eight multiply-adds.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 64, BN = 64, BK = 8;  // a block's outputs, and the depth of a tile
constexpr int TM = 8;                    // a thread's outputs
constexpr int kThreads = BM * BN / TM;   // 512

__global__ void matmul_column_per_thread_kernel(const __grid_constant__ Problem x) {
    __shared__ float a[BM][BK], b[BK][BN];  // 512 elements each, one per thread
    const Tile tile = tile_of_block(x, BM, BN);
    const int m0 = threadIdx.x / BN * TM, n = threadIdx.x % BN;
    const int am = threadIdx.x / BK, ak = threadIdx.x % BK;
    const int bk = threadIdx.x / BN, bn = threadIdx.x % BN;
    float sum[TM] = {};
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        const bool a_inside = am < tile.rows && k0 + ak < x.K;
        const bool b_inside = k0 + bk < x.K && bn < tile.columns;
        a[am][ak] = a_inside ? tile.a[am * x.a_m + (k0 + ak) * x.a_k] : 0;
        b[bk][bn] = b_inside ? tile.b[(k0 + bk) * x.b_k + bn * x.b_n] : 0;
        __syncthreads();  // the tile is full
        // [multiply]
        for (int k = 0; k < BK; ++k) {
            const float y = b[k][n];
            for (int i = 0; i < TM; ++i) sum[i] += a[m0 + i][k] * y;
        }
        // [multiply]
        __syncthreads();  // the tile may be overwritten
    }
    for (int i = 0; i < TM; ++i) {
        if (m0 + i < tile.rows && n < tile.columns) store(x, tile, m0 + i, n, sum[i]);
    }
}

}  // namespace

void launch_matmul_column_per_thread(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    matmul_column_per_thread_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_column_per_thread_kernel", grid, kThreads);
}

}  // namespace sixdays::day05_matmul
