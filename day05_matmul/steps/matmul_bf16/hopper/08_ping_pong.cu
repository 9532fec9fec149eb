// Step 8, for Hopper: ping-pong scheduling. In step 7 both consumers multiply and then both store,
// and while they store, the tensor cores are idle. Here each consumer has tiles of outputs of its
// own, and the two take turns: while one stores its sums, the other multiplies. The sums leave
// through the copy engine, too: a warp writes a box of them into shared memory, and one lane asks
// for the store.
#include <algorithm>
#include <cstdint>

#include "day05_matmul/steps/matmul_bf16/hopper/mainloop.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

/// What a warp stores at once: 16 rows of 32 sums, 128 bytes each, in the layout of a tile map with
/// the 128-byte swizzle. A warp has two boxes: it fills one while the engine reads the other.
constexpr int kBoxRows = 16, kBoxColumns = 32, kBox = kBoxRows * kBoxColumns, kBoxes = 2;

// [store]
/// Stores 16 x 8 ACROSS sums of a warp, the first of which belongs to (m0, n0), through the copy
/// engine, which leaves out what lies beyond the edges of out. Requires beta = 0 and no swish.
template <int ACROSS>
__device__ __forceinline__ void store_boxes(const float (&sum)[ACROSS][4], const Epilogue& epilogue,
                                            const gpu::TileMap& map, float* boxes, std::int64_t m0,
                                            std::int64_t n0, std::int64_t N) {
    static_assert(ACROSS / (kBoxColumns / 8) % kBoxes == 0);  // the next call begins with box 0
    const int lane = static_cast<int>(threadIdx.x % 32), row = row_of_sum(lane, 0);
    const bool with_bias = epilogue.bias.data != nullptr;
    const bool bare = epilogue.alpha == 1 && !with_bias && !epilogue.relu;
    const auto finish = [&](float x, std::int64_t n) {
        x *= epilogue.alpha;
        if (with_bias && n < N) x += epilogue.bias(n);
        return epilogue.relu && x < 0 ? 0 : x;
    };
#pragma unroll
    for (int j0 = 0; j0 < ACROSS; j0 += kBoxColumns / 8) {
        float x[kBoxColumns / 8][4];
#pragma unroll
        for (int j = 0; j < kBoxColumns / 8; ++j) {
            for (int e = 0; e < 4; ++e) x[j][e] = sum[j0 + j][e];
        }
        if (!bare) {  // tested once per box; testing it for every sum took longer than the store
#pragma unroll
            for (int j = 0; j < kBoxColumns / 8; ++j) {
                const std::int64_t n = n0 + 8 * (j0 + j);
                for (int e = 0; e < 4; ++e) x[j][e] = finish(x[j][e], n + column_of_sum(lane, e));
            }
        }
        float* const box = boxes + j0 / (kBoxColumns / 8) % kBoxes * kBox;
        if (lane == 0) gpu::store_tiles_wait_read<kBoxes - 1>();
        __syncwarp();  // the engine has read the box's previous sums
#pragma unroll
        for (int j = 0; j < kBoxColumns / 8; ++j) {
            const int chunk = 2 * j + lane % 4 / 2;  // of 16 bytes, swizzled
            float* const pair = box + row * kBoxColumns + (chunk ^ row) * 4 + lane % 2 * 2;
            *reinterpret_cast<float2*>(pair) = make_float2(x[j][0], x[j][1]);
            *reinterpret_cast<float2*>(pair + 8 * kBoxColumns) = make_float2(x[j][2], x[j][3]);
        }
        gpu::fence_proxy_async();
        __syncwarp();  // the box is full, and the engine sees it
        if (lane == 0) {
            gpu::store_tile_async(map, m0, n0 + 8 * j0, box);
            gpu::store_tiles_commit();
        }
    }
}
// [store]

/// Stores a warp's 16 of every 64 rows of a tile, by the engine or by threads.
template <int DOWN, int ACROSS>
__device__ __forceinline__ void store_tile(const float (&sum)[DOWN][ACROSS][4],
                                           const Epilogue& epilogue, const gpu::TileMap& map,
                                           bool by_engine, const View<float>& out, float* boxes,
                                           std::int64_t m0, std::int64_t n0) {
#pragma unroll
    for (int d = 0; d < DOWN; ++d) {
        const std::int64_t m = m0 + 64 * d;
        if (by_engine) {
            store_boxes(sum[d], epilogue, map, boxes, m, n0, out.extent(1));
        } else {
            const bool inside = m + 16 <= out.extent(0) && n0 + 8 * ACROSS <= out.extent(1);
            store_sums(*reinterpret_cast<const float(*)[1][ACROSS][4]>(&sum[d]), epilogue, out, m,
                       n0, inside);
        }
    }
}

// down: tiles per column of tiles before moving right
template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    matmul_bf16_ping_pong_kernel(const __grid_constant__ gpu::TileMap map_a,
                                 const __grid_constant__ gpu::TileMap map_b,
                                 const __grid_constant__ gpu::TileMap map_out, bool by_engine,
                                 std::int64_t K, const __grid_constant__ Epilogue epilogue,
                                 const __grid_constant__ View<float> out, unsigned tiles,
                                 unsigned down) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier barriers[2 * S::kStages], turns[S::kGroups];
    const S stages(memory, barriers);
    float* const boxes = gpu::SharedTiles(memory + S::kBytes).next<float>(8 * kBoxes * kBox);
    if (threadIdx.x == 0) {
        for (gpu::Mbarrier& one : turns) one.init(4);  // one lane of each of the other's warps
    }
    stages.set_up();
    Turn<S::kStages> turn;
    const int group = static_cast<int>(threadIdx.x / 128);
    if (group == S::kGroups) {
        gpu::give_registers<S::kGiven>();
        if (threadIdx.x % 128 != 0) return;
        for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
            copy_tiles(stages, map_a, map_b, tile_at(out, S::kM, S::kN, t, down), K, turn);
        }
        return;
    }
    gpu::take_registers<S::kRegisters>();
    const int warp = static_cast<int>(threadIdx.x / 32);
    float* const own = boxes + warp * kBoxes * kBox;
    const auto stages_of_tile = static_cast<unsigned>((K + kDepth - 1) / kDepth);
    // [turns]
    Order order(turns[group], turns[1 - group], group == 0);
    turn.skip(group * stages_of_tile);
    for (unsigned t = blockIdx.x + group * gridDim.x; t < tiles; t += 2 * gridDim.x) {
        const TileAt at = tile_at(out, S::kM, S::kN, t, down);
        float sum[S::kDown][S::kN / 8][4] = {};
        order.wait();
        multiply_tiles(sum, stages, 0, K, turn);
        order.pass();  // all stages of this tile have arrived, and the last is being multiplied
        release_last(sum, stages, K, turn);
        turn.skip(stages_of_tile);  // the other consumer's tile
        store_tile(sum, epilogue, map_out, by_engine, out, own, at.m0 + warp % 4 * 16, at.n0);
    }
    // [turns]
    // Shared memory must exist until the engine has read the last boxes.
    if (threadIdx.x % 32 == 0) gpu::store_tiles_wait_read<0>();
}

}  // namespace

template <class T>
void launch_matmul_bf16_ping_pong(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                  View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_orders(x, [&](auto a_across, auto b_across) {
        using S =
            Stages<T, 128, 128, kSquareStages, a_across.value, b_across.value, /*TAKE_TURNS*/ true>;
        const gpu::TileMap map_a = tile_map(x.a, S::A::kRowsOfTile);
        const gpu::TileMap map_b = tile_map(x.b, S::B::kRowsOfTile);
        const bool by_engine = lies_in_boxes(out) && epilogue.beta == 0 && !epilogue.swish;
        const gpu::TileMap map_out =
            by_engine
                ? gpu::tile_map(out.data, out.extent(0), out.extent(1), out.stride(0), kBoxRows)
                : gpu::TileMap{};
        constexpr std::size_t kBytes = S::kBytes + gpu::tile_bytes<float>(8 * kBoxes * kBox);
        const unsigned tiles = blocks_for_tiles(out, S::kM, S::kN);
        const unsigned grid = std::min(tiles, static_cast<unsigned>(gpu::multiprocessors()));
        gpu::allow_shared(matmul_bf16_ping_pong_kernel<S>, kBytes);
        gpu::require_registers<matmul_bf16_ping_pong_kernel<S>>(S::kThreads, S::kGiven,
                                                                S::kRegisters);
        matmul_bf16_ping_pong_kernel<S><<<grid, S::kThreads, kBytes, stream>>>(
            map_a, map_b, map_out, by_engine, x.K, epilogue, out, tiles, tiles_down<S>());
        gpu::check_launch("matmul_bf16_ping_pong_kernel", grid, S::kThreads, kBytes);
    });
}

template void launch_matmul_bf16_ping_pong(View<const bf16>, View<const bf16>, const Epilogue&,
                                           View<float>, gpu::Stream);
template void launch_matmul_bf16_ping_pong(View<const f16>, View<const f16>, const Epilogue&,
                                           View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
