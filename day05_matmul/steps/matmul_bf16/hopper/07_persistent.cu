// Step 7, for Hopper: a persistent kernel. In step 6 a block computes one tile of outputs and ends,
// and while it stores its sums it copies nothing and multiplies nothing. Here there are as many
// blocks as SMs, and each computes one tile after another. The producer does not wait for the
// epilogue: while sums are stored it fills the ring with the first stages of the next tile. And the
// epilogue is faster: sums go through shared memory, so that each store writes whole cache lines of
// `out`.
#include <algorithm>
#include <cmath>

#include "day05_matmul/steps/matmul_bf16/hopper/stages.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

/// The producer, for one tile of outputs. The ring continues from the previous tile.
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
/// A consumer's mainloop for one tile: 64 x kN sums, starting at row `m` of the tile.
template <class S>
__device__ __forceinline__ void multiply_tiles(float (&sum)[S::kN / 8][4], const S& stages, int m,
                                               std::int64_t K, Turn<S::kStages>& turn) {
    using T = typename S::Element;
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
    // Release the last stage before the sums are stored.
    if (K > 0 && threadIdx.x % 32 == 0) stages.empty[turn.stage_before()].arrive();
}
// [multiply]

/// A warp's buffer for 16 rows of 32 sums. The pitch of 40 avoids bank conflicts, both for pairs of
/// eight rows and for the float4s of a row.
constexpr int kPitch = 40;
using Room = float[16 * kPitch];

/// The same as store_inside() for 16 rows that begin at multiples of 16 bytes. There four lanes
/// store 32 bytes of a row; here eight lanes store 128 bytes, a whole cache line: the lanes
/// exchange their sums through shared memory.
template <int ACROSS>
__device__ __forceinline__ void store_lines(const float (&sum)[ACROSS][4], const Epilogue& epilogue,
                                            const View<float>& out, Room& room, std::int64_t m0,
                                            std::int64_t n0) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int row = lane / 8, column = lane % 8 * 4;  // and three more rows, 4 apart
    const bool with_bias = epilogue.bias.data != nullptr;
    const bool bare = epilogue.alpha == 1 && !with_bias && !epilogue.relu;
    const auto finish = [&](float x, float bias) {
        x *= epilogue.alpha;
        if (with_bias) x += bias;
        return epilogue.relu && x < 0 ? 0 : x;
    };
    float* to = &out(m0 + row, n0 + column);
#pragma unroll
    for (int j0 = 0; j0 < ACROSS; j0 += 4, to += 32) {
        float bias[4] = {};
        for (int e = 0; e < 4 && with_bias; ++e) bias[e] = epilogue.bias(n0 + 8 * j0 + column + e);
        __syncwarp();  // the previous 32 columns are read
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float(&s)[4] = sum[j0 + j];
            float* const pair =
                room + row_of_sum(lane, 0) * kPitch + 8 * j + column_of_sum(lane, 0);
            *reinterpret_cast<float2*>(pair) = make_float2(s[0], s[1]);
            *reinterpret_cast<float2*>(pair + 8 * kPitch) = make_float2(s[2], s[3]);
        }
        __syncwarp();  // these 32 columns are written
#pragma unroll
        for (int r = 0; r < 16; r += 4) {
            float4 x = *reinterpret_cast<const float4*>(room + (row + r) * kPitch + column);
            if (!bare) {
                x = make_float4(finish(x.x, bias[0]), finish(x.y, bias[1]), finish(x.z, bias[2]),
                                finish(x.w, bias[3]));
            }
            *reinterpret_cast<float4*>(to + r * out.stride(0)) = x;
        }
    }
}

__device__ __forceinline__ bool lies_in_lines(const View<float>& out) {
    return out.stride(1) == 1 && out.stride(0) % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(out.data) % 16 == 0;
}

// down: tiles per column of tiles before moving right
template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    matmul_bf16_persistent_kernel(const __grid_constant__ gpu::TileMap map_a,
                                  const __grid_constant__ gpu::TileMap map_b, std::int64_t K,
                                  const __grid_constant__ Epilogue epilogue,
                                  const __grid_constant__ View<float> out, unsigned tiles,
                                  unsigned down) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier barriers[2 * S::kStages];
    __shared__ __align__(16) Room rooms[S::kM / 16];  // one per consumer warp
    const S stages(memory, barriers);
    stages.set_up();
    Turn<S::kStages> turn;  // continues from tile to tile
    const int group = static_cast<int>(threadIdx.x / 128);
    // [roles]
    if (group == S::kGroups) {
        gpu::give_registers<S::kGiven>();
        if (threadIdx.x % 128 != 0) return;
        for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
            const TileAt at = tile_at(out, S::kM, S::kN, t, down);
            copy_tiles(stages, map_a, map_b, at, K, turn);
        }
    } else {
        gpu::take_registers<S::kRegisters>();
        const int m = 64 * group + static_cast<int>(threadIdx.x % 128 / 32 * 16);
        for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
            const TileAt at = tile_at(out, S::kM, S::kN, t, down);
            float sum[1][S::kN / 8][4] = {};
            multiply_tiles(sum[0], stages, 64 * group, K, turn);
            const bool inside = at.m0 + S::kM <= out.extent(0) && at.n0 + S::kN <= out.extent(1);
            if (inside && epilogue.beta == 0 && !epilogue.swish && lies_in_lines(out)) {
                store_lines(sum[0], epilogue, out, rooms[threadIdx.x / 32], at.m0 + m, at.n0);
            } else {
                store_sums(sum, epilogue, out, at.m0 + m, at.n0, inside);
            }
        }
    }
    // [roles]
}

/// How many tiles down are computed before the next ones to the right. G blocks of BM x BN outputs,
/// D down and G / D across, read D BM rows of a and G / D BN columns of b. The minimum is at D =
/// sqrt(G BN / BM): 16 for the 132 SMs of an H200 and the widest tiles, 128 x 256, which large
/// products take.
unsigned tiles_down() {
    return static_cast<unsigned>(std::sqrt(2.0 * gpu::multiprocessors()));
}

}  // namespace

template <class T>
void launch_matmul_bf16_persistent(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                   View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_stages(x, out, [&]<class S>(std::type_identity<S>) {
        const gpu::TileMap map_a = tile_map(x.a, S::A::kRowsOfTile);
        const gpu::TileMap map_b = tile_map(x.b, S::B::kRowsOfTile);
        const unsigned tiles = blocks_for_tiles(out, S::kM, S::kN);
        const unsigned grid =
            std::min(tiles, S::kBlocks * static_cast<unsigned>(gpu::multiprocessors()));
        gpu::allow_shared(matmul_bf16_persistent_kernel<S>, S::kBytes);
        gpu::require_registers<matmul_bf16_persistent_kernel<S>>(S::kThreads, S::kGiven,
                                                                 S::kRegisters);
        matmul_bf16_persistent_kernel<S><<<grid, S::kThreads, S::kBytes, stream>>>(
            map_a, map_b, x.K, epilogue, out, tiles, tiles_down());
        gpu::check_launch("matmul_bf16_persistent_kernel", grid, S::kThreads, S::kBytes);
    });
}

template void launch_matmul_bf16_persistent(View<const bf16>, View<const bf16>, const Epilogue&,
                                            View<float>, gpu::Stream);
template void launch_matmul_bf16_persistent(View<const f16>, View<const f16>, const Epilogue&,
                                            View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
