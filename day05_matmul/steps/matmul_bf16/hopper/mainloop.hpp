/// @file
/// For .cu files: shared by steps 7 and 8, the mainloops of producer and consumer in a persistent
/// kernel, where the ring continues from one tile of outputs to the next.
#pragma once

#include <cmath>

#include "day05_matmul/steps/matmul_bf16/hopper/stages.hpp"

namespace sixdays::day05_matmul {

/// The producer, for one tile of outputs.
template <class S>
__device__ __forceinline__ void copy_tiles(const S& stages, const gpu::TileMap& map_a,
                                           const gpu::TileMap& map_b, TileAt at, std::int64_t K,
                                           Turn<S::kStages>& turn) {
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        stages.empty[turn.stage].wait(turn.parity ^ 1);  // returns at once in the first round
        gpu::Mbarrier& full = stages.full[turn.stage];
        full.arrive_and_expect(S::kStageBytes);
        stages.a.fetch(turn.stage, map_a, at.m0, k0, full);
        stages.b.fetch(turn.stage, map_b, at.n0, k0, full);
        turn.next();
    }
}

// [multiply]
/// A consumer's mainloop for one tile: 64 kDown x kN sums, starting at row `m` of the tile.
template <class S>
__device__ __forceinline__ void multiply_tiles(float (&sum)[S::kDown][S::kN / 8][4],
                                               const S& stages, int m, std::int64_t K,
                                               Turn<S::kStages>& turn) {
    using T = typename S::Element;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        stages.full[turn.stage].wait(turn.parity);
        const gpu::WgmmaTile b = stages.b.operand(turn.stage, 0);
        gpu::wgmma_fence();
#pragma unroll
        for (int i = 0; i < kDepth / 16; ++i) {
#pragma unroll
            for (int d = 0; d < S::kDown; ++d) {
                const gpu::WgmmaTile a = stages.a.operand(turn.stage, m + 64 * d);
                gpu::wgmma<T, S::kAcrossA, S::kAcrossB>(sum[d], a.further(i * S::A::kStep),
                                                        b.further(i * S::B::kStep));
            }
        }
        gpu::wgmma_commit();
        gpu::wgmma_wait<1>();  // until the previous stage is multiplied
        if (k0 > 0 && threadIdx.x % 32 == 0) stages.empty[turn.stage_before()].arrive();
        turn.next();
    }
}
/// Waits for the sums and releases the last stage, before the sums are stored.
template <class S>
__device__ __forceinline__ void release_last(float (&sum)[S::kDown][S::kN / 8][4], const S& stages,
                                             std::int64_t K, const Turn<S::kStages>& turn) {
#pragma unroll
    for (auto& of_64_rows : sum) gpu::wgmma_wait<0>(of_64_rows);
    if (K > 0 && threadIdx.x % 32 == 0) stages.empty[turn.stage_before()].arrive();
}
// [multiply]

/// How many tiles down are computed before the next ones to the right. G blocks of kM x kN outputs,
/// D down and G / D across, read D kM rows of a and G / D kN columns of b. The minimum is at D =
/// sqrt(G kN / kM): 16 for the 132 SMs of an H200 and tiles of 128 x 256, 11 for 128 x 128.
template <class S>
unsigned tiles_down() {
    return static_cast<unsigned>(std::sqrt(gpu::multiprocessors() * double{S::kN} / S::kM));
}

}  // namespace sixdays::day05_matmul
