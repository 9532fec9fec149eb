// Step 7: 128-bit loads (float4) from global memory and from the tile. 4 instructions fetch what
// took 16. An SM can issue four instructions per cycle, so more issue slots are left for
// multiply-adds. A thread's rows and columns now come in two groups of four adjacent ones, 64
// apart. Rows of a, b and out must begin at multiples of 16 bytes.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 128, BK = 8;           // a block's outputs, and the depth of a tile
constexpr int TM = 8, TN = 8;                       // a thread's outputs
constexpr int kRows = BM / TM, kColumns = BN / TN;  // of threads: 16 x 16
constexpr int kThreads = kRows * kColumns;          // one float4 of a and one of b each

__global__ void __launch_bounds__(kThreads)
    matmul_vectorized_kernel(const __grid_constant__ Problem x) {
    __shared__ __align__(16) float a[BK][BM + 4], b[BK][BN];
    const Tile tile = tile_of_block(x, BM, BN);
    const int m0 = threadIdx.x / kColumns * 4, n0 = threadIdx.x % kColumns * 4;
    const int am = threadIdx.x / (BK / 4), ak = threadIdx.x % (BK / 4) * 4;
    const int bk = threadIdx.x / (BN / 4), bn = threadIdx.x % (BN / 4) * 4;
    float sum[TM][TN] = {};
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        // [fill]
        // How many k's of this tile exist, and how many elements of this thread's float4s? Zero or
        // less means none.
        const int depth = x.K - k0 < BK ? static_cast<int>(x.K - k0) : BK;
        const int a_left = am < tile.rows ? depth - ak : 0;
        const int b_left = bk < depth ? tile.columns - bn : 0;
        const float4 qa = vector_at(tile.a + am * x.a_m + k0 + ak, a_left);
        const float4 qb = vector_at(tile.b + (k0 + bk) * x.b_k + bn, b_left);
        a[ak][am] = qa.x, a[ak + 1][am] = qa.y;
        a[ak + 2][am] = qa.z, a[ak + 3][am] = qa.w;
        *reinterpret_cast<float4*>(&b[bk][bn]) = qb;
        // [fill]
        __syncthreads();  // the tile is full
        for (int k = 0; k < BK; ++k) {
            float ra[TM], rb[TN];
            // [fragments]
            for (int i = 0; i < TM; i += 4) load_vector(&a[k][m0 + i / 4 * 64], ra + i);
            for (int j = 0; j < TN; j += 4) load_vector(&b[k][n0 + j / 4 * 64], rb + j);
            // [fragments]
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];
            }
        }
        __syncthreads();  // the tile may be overwritten
    }
    const auto m_of = [&](int i) { return m0 + i / 4 * 64 + i % 4; };
    const auto n_of = [&](int j) { return n0 + j / 4 * 64; };
    store_all(x, tile, sum, m_of, n_of);
}

}  // namespace

void launch_matmul_vectorized(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    matmul_vectorized_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_vectorized_kernel", grid, kThreads);
}

}  // namespace sixdays::day05_matmul
