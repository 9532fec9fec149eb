// Step 6, for Hopper: warp specialization. One warpgroup only copies, the others only multiply. A
// single thread, the producer, asks the copy engine (TMA) for one tile after another. The engine
// fills a stage, edges and swizzle included, and signals the stage's barrier `full`. The consumers,
// two warpgroups or one for small tiles, wait there and pass the whole stage to the tensor cores,
// which read it from shared memory: no fragments and no address arithmetic. Once a stage is
// multiplied, one lane of each warp arrives at its barrier `empty`, where the producer waits. Each
// warp must arrive, because a wait for wgmma covers only the products of the warp that waits.
#include "day05_matmul/steps/matmul_bf16/hopper/stages.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

// [copy]
/// The producer.
template <class S>
__device__ __forceinline__ void copy_tiles(const S& stages, const gpu::TileMap& map_a,
                                           const gpu::TileMap& map_b, TileAt at, std::int64_t K) {
    Turn<S::kStages> turn;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        stages.empty[turn.stage].wait(turn.parity ^ 1);  // returns at once in the first round
        gpu::Mbarrier& full = stages.full[turn.stage];
        full.arrive_and_expect(S::kStageBytes);
        stages.a.fetch(turn.stage, map_a, at.m0, k0, full);
        stages.b.fetch(turn.stage, map_b, at.n0, k0, full);
        turn.next();
    }
}
// [copy]

// [multiply]
/// A consumer's mainloop: 64 x kN sums, starting at row `m` of the tile.
template <class S>
__device__ __forceinline__ void multiply_tiles(float (&sum)[S::kN / 8][4], const S& stages, int m,
                                               std::int64_t K) {
    using T = typename S::Element;
    Turn<S::kStages> turn;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        stages.full[turn.stage].wait(turn.parity);
        const gpu::WgmmaTile a = stages.a.operand(turn.stage, m);
        const gpu::WgmmaTile b = stages.b.operand(turn.stage, 0);
        gpu::wgmma_fence();
#pragma unroll
        for (int i = 0; i < kDepth / 16; ++i) {
            gpu::wgmma<T, S::kAcrossA, S::kAcrossB>(sum, a.further(i * S::A::kStep),
                                                    b.further(i * S::B::kStep));
        }
        gpu::wgmma_commit();
        gpu::wgmma_wait<1>();  // until the previous stage is multiplied
        if (k0 > 0 && threadIdx.x % 32 == 0) stages.empty[turn.stage_before()].arrive();
        turn.next();
    }
    gpu::wgmma_wait<0>(sum);
}
// [multiply]

template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    matmul_bf16_warpgroups_kernel(const __grid_constant__ gpu::TileMap map_a,
                                  const __grid_constant__ gpu::TileMap map_b, std::int64_t K,
                                  const __grid_constant__ Epilogue epilogue,
                                  const __grid_constant__ View<float> out) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier barriers[2 * S::kStages];
    const S stages(memory, barriers);
    stages.set_up();
    const TileAt at = tile_of_block(out, S::kM, S::kN);
    const int group = static_cast<int>(threadIdx.x / 128);
    if (group == S::kGroups) {
        gpu::give_registers<S::kGiven>();
        if (threadIdx.x % 128 == 0) copy_tiles(stages, map_a, map_b, at, K);
    } else {
        gpu::take_registers<S::kRegisters>();
        float sum[1][S::kN / 8][4] = {};
        multiply_tiles(sum[0], stages, 64 * group, K);
        const int m = 64 * group + static_cast<int>(threadIdx.x % 128 / 32 * 16);
        const bool inside = at.m0 + S::kM <= out.extent(0) && at.n0 + S::kN <= out.extent(1);
        store_sums(sum, epilogue, out, at.m0 + m, at.n0, inside);
    }
}

}  // namespace

template <class T>
void launch_matmul_bf16_warpgroups(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                   View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_stages(x, out, [&]<class S>(std::type_identity<S>) {
        const gpu::TileMap map_a = tile_map(x.a, S::A::kRowsOfTile);
        const gpu::TileMap map_b = tile_map(x.b, S::B::kRowsOfTile);
        const unsigned grid = blocks_for_tiles(out, S::kM, S::kN);
        gpu::allow_shared(matmul_bf16_warpgroups_kernel<S>, S::kBytes);
        gpu::require_registers<matmul_bf16_warpgroups_kernel<S>>(S::kThreads, S::kGiven,
                                                                 S::kRegisters);
        matmul_bf16_warpgroups_kernel<S>
            <<<grid, S::kThreads, S::kBytes, stream>>>(map_a, map_b, x.K, epilogue, out);
        gpu::check_launch("matmul_bf16_warpgroups_kernel", grid, S::kThreads, S::kBytes);
    });
}

template void launch_matmul_bf16_warpgroups(View<const bf16>, View<const bf16>, const Epilogue&,
                                            View<float>, gpu::Stream);
template void launch_matmul_bf16_warpgroups(View<const f16>, View<const f16>, const Epilogue&,
                                            View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
