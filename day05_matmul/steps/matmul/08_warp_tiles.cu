// Step 8: only the map from threads to outputs changes. In step 7 a warp has 16 rows of 128
// columns, and for each k it reads 16 words of a and 128 of b. Here it has 64 rows of 32 columns:
// 64 words and 32, two thirds of that, without bank conflicts. The nearer a rectangle is to a
// square, the fewer words it needs.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 128, BK = 8;  // a block's outputs, and the depth of a tile
constexpr int WM = 64, WN = 32;            // a warp's outputs: 2 x 4 warps
constexpr int TM = 8, TN = 8;              // a thread's outputs: 8 x 4 lanes
constexpr int kThreads = BM / WM * (BN / WN) * 32;

__global__ void __launch_bounds__(kThreads)
    matmul_warp_tiles_kernel(const __grid_constant__ Problem x) {
    __shared__ __align__(16) float a[BK][BM + 4], b[BK][BN];
    const Tile tile = tile_of_block(x, BM, BN);
    // [map]
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int m0 = warp / (BN / WN) * WM + lane / 4 * 4;
    const int n0 = warp % (BN / WN) * WN + lane % 4 * 4;
    // [map]
    const int am = threadIdx.x / (BK / 4), ak = threadIdx.x % (BK / 4) * 4;
    const int bk = threadIdx.x / (BN / 4), bn = threadIdx.x % (BN / 4) * 4;
    float sum[TM][TN] = {};
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        const int depth = x.K - k0 < BK ? static_cast<int>(x.K - k0) : BK;
        const int a_left = am < tile.rows ? depth - ak : 0;
        const int b_left = bk < depth ? tile.columns - bn : 0;
        const float4 qa = vector_at(tile.a + am * x.a_m + k0 + ak, a_left);
        const float4 qb = vector_at(tile.b + (k0 + bk) * x.b_k + bn, b_left);
        a[ak][am] = qa.x, a[ak + 1][am] = qa.y;
        a[ak + 2][am] = qa.z, a[ak + 3][am] = qa.w;
        *reinterpret_cast<float4*>(&b[bk][bn]) = qb;
        __syncthreads();  // the tile is full
        for (int k = 0; k < BK; ++k) {
            float ra[TM], rb[TN];
            for (int i = 0; i < TM; i += 4) load_vector(&a[k][m0 + i / 4 * 32], ra + i);
            for (int j = 0; j < TN; j += 4) load_vector(&b[k][n0 + j / 4 * 16], rb + j);
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];
            }
        }
        __syncthreads();  // the tile may be overwritten
    }
    const auto m_of = [&](int i) { return m0 + i / 4 * 32 + i % 4; };
    const auto n_of = [&](int j) { return n0 + j / 4 * 16; };
    store_all(x, tile, sum, m_of, n_of);
}

}  // namespace

void launch_matmul_warp_tiles(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    matmul_warp_tiles_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_warp_tiles_kernel", grid, kThreads);
}

}  // namespace sixdays::day05_matmul
