// Step 16, outside the ladder: a short K. Then writing `out` dominates, and a ring would not pay. A
// block fetches 32 k's of its rows and columns into shared memory, multiplies them, and writes;
// meanwhile another block on the same SM fetches. A warp has 8 rows of 256 columns, and writes 512
// bytes of a row with each store.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 64, BN = 256, BK = 32;  // a block's outputs, and the depth of a tile
constexpr int TM = 8, TN = 8;              // a thread's outputs
constexpr int kThreads = BM / TM * 32;

__global__ void __launch_bounds__(kThreads, 2)
    matmul_shallow_kernel(const __grid_constant__ Problem x) {
    __shared__ __align__(16) float a[BK][BM + 4], b[BK][BN];
    const Tile tile = tile_of_block(x, BM, BN);
    const int m0 = threadIdx.x / 32 * TM, n0 = threadIdx.x % 32 * 4;
    const int wide = x.vectors_b ? 4 : 1;  // elements of b that a thread fetches at once
    float sum[TM][TN] = {};
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        const int depth = x.K - k0 < BK ? static_cast<int>(x.K - k0) : BK;
        // Lanes run along m if a is contiguous along m, else 8 along k and 4 along m: then the
        // tile's rows, padded by 4 words, put their stores into 32 banks.
        for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
            const int m = x.a_m == 1 ? i % BM : i / 8 % BM;
            const int k = x.a_m == 1 ? i / BM : i % 8 + i / (8 * BM) * 8;
            if (k >= depth) continue;
            a[k][m] = m < tile.rows ? tile.a[m * x.a_m + (k0 + k) * x.a_k] : 0;
        }
        for (int i = threadIdx.x * wide; i < depth * BN; i += kThreads * wide) {
            const int k = i / BN, n = i % BN;
            const float* const from = tile.b + (k0 + k) * x.b_k + n * x.b_n;
            if (x.vectors_b) {
                *reinterpret_cast<float4*>(&b[k][n]) = vector_at(from, tile.columns - n);
            } else {
                b[k][n] = n < tile.columns ? *from : 0;
            }
        }
        __syncthreads();  // the tile is full
        for (int k = 0; k < depth; ++k) {
            float ra[TM], rb[TN];
            for (int i = 0; i < TM; i += 4) load_vector(&a[k][m0 + i], ra + i);
            for (int j = 0; j < TN; j += 4) load_vector(&b[k][n0 + j * 32], rb + j);
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];
            }
        }
        __syncthreads();  // the tile may be overwritten
    }
    const auto m_of = [&](int i) { return m0 + i; };
    const auto n_of = [&](int j) { return n0 + j * 32; };
    store_all(x, tile, sum, m_of, n_of);
}

}  // namespace

void launch_matmul_shallow(Problem x, gpu::Stream stream) {
    x = along_rows(x);
    x.vectors_b = b_has_vectors(x);
    const unsigned grid = cut_into_tiles(x, BM, BN);
    matmul_shallow_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_shallow_kernel", grid, kThreads);
}

}  // namespace sixdays::day05_matmul
