// Step 7, for Hopper: a persistent kernel. In step 6 a block computes one tile of outputs and ends,
// and while it stores its sums it copies nothing and multiplies nothing. Here there are as many
// blocks as SMs, and each computes one tile after another. The producer does not wait for the
// epilogue: while sums are stored it fills the ring with the first stages of the next tile. And the
// epilogue is faster: sums go through shared memory, so that each store writes whole cache lines of
// `out`.
#include <algorithm>

#include "day05_matmul/steps/matmul_bf16/hopper/mainloop.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

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
            multiply_tiles(sum, stages, 64 * group, K, turn);
            release_last(sum, stages, K, turn);
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
            map_a, map_b, x.K, epilogue, out, tiles, tiles_down<S>());
        gpu::check_launch("matmul_bf16_persistent_kernel", grid, S::kThreads, S::kBytes);
    });
}

template void launch_matmul_bf16_persistent(View<const bf16>, View<const bf16>, const Epilogue&,
                                            View<float>, gpu::Stream);
template void launch_matmul_bf16_persistent(View<const f16>, View<const f16>, const Epilogue&,
                                            View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
