// Step 9: copies in flight. In step 8 a block waits for memory, then multiplies, then waits again.
// Here the tiles are in a ring of three stages: while one is multiplied, the next two are in
// flight, by copies that bypass registers (cp.async). One barrier per tile is left. After it, tile
// t is complete, and all threads have multiplied tile t - 1, whose stage the newest copies
// overwrite.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/ring.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 128, BK = 16, kStages = 3;
using R = Ring<BM, BN, BK, kStages>;

// [kernel]
__global__ void __launch_bounds__(R::kThreads)
    matmul_ring_kernel(const __grid_constant__ Problem x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const R ring(memory);
    const Tile tile = tile_of_block(x, BM, BN);
    float sum[R::TM][R::TN] = {};
    for (int s = 0; s < kStages - 1; ++s) {
        if (s * BK < x.K) ring.copy_tiles(x, tile, s * BK, s);
        gpu::copy_async_commit();
    }
    int stage = 0;
    for (std::int64_t k0 = 0; k0 < x.K; k0 += BK) {
        gpu::copy_async_wait<kStages - 2>();  // this thread's copies of the tile have arrived
        __syncthreads();                      // and all other threads' copies
        const std::int64_t next = k0 + (kStages - 1) * BK;
        if (next < x.K) ring.copy_tiles(x, tile, next, (stage + kStages - 1) % kStages);
        gpu::copy_async_commit();  // even if empty: the wait counts groups
        for (int k = 0; k < BK; ++k) {
            float ra[R::TM], rb[R::TN];
            ring.load(stage, k, ra, rb);
            for (int i = 0; i < R::TM; ++i) {
                for (int j = 0; j < R::TN; ++j) sum[i][j] += ra[i] * rb[j];
            }
        }
        stage = (stage + 1) % kStages;
    }
    ring.store(x, tile, sum);
}
// [kernel]

}  // namespace

void launch_matmul_ring(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, BM, BN);
    gpu::allow_shared(matmul_ring_kernel, R::kBytes);
    matmul_ring_kernel<<<grid, R::kThreads, R::kBytes, stream>>>(x);
    gpu::check_launch("matmul_ring_kernel", grid, R::kThreads, R::kBytes);
}

}  // namespace sixdays::day05_matmul
