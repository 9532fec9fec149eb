// Step 6: 8 x 8 outputs per thread. For each k it loads 8 elements of a and 8 of b, and multiplies
// each with each: 16 loads for 64 multiply-adds. A thread's rows are 16 apart and so are its
// columns, so adjacent lanes read adjacent words. The tile of a is stored transposed, as a warp
// reads it along m. The lanes that write it, 8 along k and 4 along m, hit different banks because a
// row has 4 words of padding.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 128, BK = 8;           // a block's outputs, and the depth of a tile
constexpr int TM = 8, TN = 8;                       // a thread's outputs
constexpr int kRows = BM / TM, kColumns = BN / TN;  // of threads: 16 x 16
constexpr int kThreads = kRows * kColumns;

__global__ void __launch_bounds__(kThreads)
    matmul_square_per_thread_kernel(const __grid_constant__ Problem x) {
    __shared__ float a[BK][BM + 4], b[BK][BN];
    const Tile tile = tile_of_block(x, BM, BN);
    const int m0 = threadIdx.x / kColumns, n0 = threadIdx.x % kColumns;
    float sum[TM][TN] = {};
    // [loop]
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
            const int m = i / BK, k = i % BK;
            const bool inside = m < tile.rows && k0 + k < x.K;
            a[k][m] = inside ? tile.a[m * x.a_m + (k0 + k) * x.a_k] : 0;
        }
        for (int i = threadIdx.x; i < BK * BN; i += kThreads) {
            const int k = i / BN, n = i % BN;
            const bool inside = k0 + k < x.K && n < tile.columns;
            b[k][n] = inside ? tile.b[(k0 + k) * x.b_k + n * x.b_n] : 0;
        }
        __syncthreads();  // the tile is full
        for (int k = 0; k < BK; ++k) {
            float ra[TM], rb[TN];
            for (int i = 0; i < TM; ++i) ra[i] = a[k][m0 + i * kRows];
            for (int j = 0; j < TN; ++j) rb[j] = b[k][n0 + j * kColumns];
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];
            }
        }
        __syncthreads();  // the tile may be overwritten
    }
    // [loop]
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int m = m0 + i * kRows, n = n0 + j * kColumns;
            if (m < tile.rows && n < tile.columns) store(x, tile, m, n, sum[i][j]);
        }
    }
}

}  // namespace

void launch_matmul_square_per_thread(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    matmul_square_per_thread_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_square_per_thread_kernel", grid, kThreads);
}

}  // namespace sixdays::day05_matmul
