// Step 10: the elements that a thread multiplies for one k, its fragments, come from shared memory,
// which has latency too. So there are two sets of registers: while one is multiplied, the fragments
// of the next k are loaded into the other, across tiles as well. The barrier therefore moves before
// the last k of a tile, whose fragments are in registers by then. And each thread has 8 x 16
// outputs: 24 words for 128 multiply-adds, where 8 x 8 needs 32.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/ring.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 256, BK = 16, kStages = 3;
using R = Ring<BM, BN, BK, kStages>;

__global__ void __launch_bounds__(R::kThreads)
    matmul_fragments_kernel(const __grid_constant__ Problem x) {
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
        // [loop]
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {  // the next tile: no thread reads this stage any more
                gpu::copy_async_wait<kStages - 2>();
                __syncthreads();
                stage = (stage + 1) % kStages;
            }
            const bool more = k < BK - 1 || k0 + BK < x.K;
            if (more) ring.load(stage, (k + 1) % BK, ra[(k + 1) % 2], rb[(k + 1) % 2]);
            for (int i = 0; i < R::TM; ++i) {
                for (int j = 0; j < R::TN; ++j) sum[i][j] += ra[k % 2][i] * rb[k % 2][j];
            }
        }
        // [loop]
    }
    ring.store(x, tile, sum);
}

}  // namespace

void launch_matmul_fragments(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    gpu::allow_shared(matmul_fragments_kernel, R::kBytes);
    matmul_fragments_kernel<<<grid, R::kThreads, R::kBytes, stream>>>(x);
    gpu::check_launch("matmul_fragments_kernel", grid, R::kThreads, R::kBytes);
}

}  // namespace sixdays::day05_matmul
