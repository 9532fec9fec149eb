// Wrong on purpose: the copies go to the stage that is being multiplied.
//
// case: the ring: what was copied is there before it is read
// refused: copy
// sanitizer: racecheck
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/ring.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 256, BK = 16, kStages = 3;
using R = Ring<BM, BN, BK, kStages>;
static_assert(R::kCopiesA == 8 && R::kCopiesB == 4, "as the loop below spreads them");

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
        const int stage_ahead = stage;
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {  // the next tile, and nobody reads this one any more
                gpu::copy_async_wait<kStages - 2>();
                __syncthreads();
                stage = (stage + 1) % kStages;
            }
            ring.load(stage, (k + 1) % BK, ra[(k + 1) % 2], rb[(k + 1) % 2]);
            if (k < 8) ring.copy_a(x, tile, ahead, stage_ahead, k);
            if (k < 8 && k % 2 == 0) ring.copy_b(x, tile, ahead, stage_ahead, k / 2);
            if (k == 7) gpu::copy_async_commit();
            for (int i = 0; i < R::TM; ++i) {
                for (int step = 0; step < R::TN; ++step) {
                    const int j = i % 2 == 0 ? step : R::TN - 1 - step;
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
