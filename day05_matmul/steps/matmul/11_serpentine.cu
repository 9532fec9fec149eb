// Step 11: the order of the multiply-adds. Every second column of a thread's outputs is traversed
// backwards, and at every second k so are the columns, so that consecutive multiply-adds share an
// operand, also at the turns. The register file has two banks and reads one word of each per cycle,
// but an operand that the previous instruction read can be reused from a cache in front of it: one
// of three operands is there already. Nothing else changes, and the results are the same.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/ring.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 256, BK = 16, kStages = 3;
using R = Ring<BM, BN, BK, kStages>;

__global__ void __launch_bounds__(R::kThreads)
    matmul_serpentine_kernel(const __grid_constant__ Problem x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const R ring(memory);
    const Tile tile = tile_of_block(x, BM, BN);
    float sum[R::TM][R::TN] = {};
    for (int s = 0; s < kStages - 1; ++s) {
        ring.copy_tiles(x, tile, s * BK, s);  // zeros past the end of K
        gpu::copy_async_commit();
    }
    gpu::copy_async_wait<kStages - 2>();
    __syncthreads();
    float ra[2][R::TM], rb[2][R::TN];
    ring.load(0, 0, ra[0], rb[0]);
    int stage = 0;
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        const std::int64_t ahead = k0 + (kStages - 1) * BK;
        if (ahead < x.K) ring.copy_tiles(x, tile, ahead, (stage + kStages - 1) % kStages);
        gpu::copy_async_commit();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {  // the next tile: no thread reads this stage any more
                gpu::copy_async_wait<kStages - 2>();
                __syncthreads();
                stage = (stage + 1) % kStages;
            }
            const bool more = k < BK - 1 || k0 + BK < x.K;
            if (more) ring.load(stage, (k + 1) % BK, ra[(k + 1) % 2], rb[(k + 1) % 2]);
            // [snake]
            for (int column = 0; column < R::TN; ++column) {
                const int j = k % 2 == 0 ? column : R::TN - 1 - column;
                for (int step = 0; step < R::TM; ++step) {
                    const int i = column % 2 == 0 ? step : R::TM - 1 - step;
                    sum[i][j] += ra[k % 2][i] * rb[k % 2][j];
                }
            }
            // [snake]
        }
    }
    ring.store(x, tile, sum);
}

}  // namespace

void launch_matmul_serpentine(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    gpu::allow_shared(matmul_serpentine_kernel, R::kBytes);
    matmul_serpentine_kernel<<<grid, R::kThreads, R::kBytes, stream>>>(x);
    gpu::check_launch("matmul_serpentine_kernel", grid, R::kThreads, R::kBytes);
}

}  // namespace sixdays::day05_matmul
