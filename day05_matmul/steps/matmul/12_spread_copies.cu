// Step 12: in step 11 a warp starts all copies of a tile at once, and does not multiply meanwhile.
// Here they are spread over the first 8 of the 16 k's of a tile: a copy of a at each, one of b at
// every second. Past the end of K they continue and write only zeros: a branch around them would
// keep the compiler from moving them between the multiply-adds.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/ring.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 256, BK = 16, kStages = 3;
using R = Ring<BM, BN, BK, kStages>;
static_assert(R::kCopiesA == 8 && R::kCopiesB == 4, "the loop below spreads these copies");

__global__ void __launch_bounds__(R::kThreads)
    matmul_spread_copies_kernel(const __grid_constant__ Problem x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const R ring(memory);
    const Tile tile = tile_of_block(x, BM, BN);
    float sum[R::TM][R::TN] = {};
    for (int s = 0; s < kStages - 1; ++s) {
        ring.copy_tiles(x, tile, s * BK, s);
        gpu::copy_async_commit();
    }
    gpu::copy_async_wait<kStages - 2>();
    __syncthreads();
    float ra[2][R::TM], rb[2][R::TN];
    ring.load(0, 0, ra[0], rb[0]);
    int stage = 0;
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        const std::int64_t ahead = k0 + (kStages - 1) * BK;
        const int stage_ahead = (stage + kStages - 1) % kStages;
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {  // the next tile: no thread reads this stage any more
                gpu::copy_async_wait<kStages - 2>();
                __syncthreads();
                stage = (stage + 1) % kStages;
            }
            ring.load(stage, (k + 1) % BK, ra[(k + 1) % 2], rb[(k + 1) % 2]);
            if (k < 8) ring.copy_a(x, tile, ahead, stage_ahead, k);
            if (k < 8 && k % 2 == 0) ring.copy_b(x, tile, ahead, stage_ahead, k / 2);
            if (k == 7) gpu::copy_async_commit();
            for (int column = 0; column < R::TN; ++column) {
                const int j = k % 2 == 0 ? column : R::TN - 1 - column;
                for (int step = 0; step < R::TM; ++step) {
                    const int i = column % 2 == 0 ? step : R::TM - 1 - step;
                    sum[i][j] += ra[k % 2][i] * rb[k % 2][j];
                }
            }
        }
    }
    gpu::copy_async_wait<0>();
    ring.store(x, tile, sum);
}

}  // namespace

void launch_matmul_spread_copies(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    gpu::allow_shared(matmul_spread_copies_kernel, R::kBytes);
    matmul_spread_copies_kernel<<<grid, R::kThreads, R::kBytes, stream>>>(x);
    gpu::check_launch("matmul_spread_copies_kernel", grid, R::kThreads, R::kBytes);
}

}  // namespace sixdays::day05_matmul
