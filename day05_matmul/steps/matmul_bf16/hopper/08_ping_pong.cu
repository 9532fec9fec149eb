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

/// What a warp stores at once: 16 rows of 128 bytes, in the layout of a tile map with the 128-byte
/// swizzle. A warp has two boxes: it fills one while the engine reads the other.
constexpr int kBoxRows = 16, kBoxRowBytes = 128, kBoxes = 2;
template <class Out>
constexpr int kBoxColumns = kBoxRowBytes / sizeof(Out);
template <class Out>
constexpr int kBox = kBoxRows* kBoxColumns<Out>;

// [begin]
/// Sets a warp's sums, the first of which belongs to (m0, n0), to beta * out + bias, to which the
/// products are added. The loads overlap the other consumer's turn. A branch around a load would
/// serialize the products (load_if.hpp).
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void begin_sums(float (&sum)[DOWN][ACROSS][4], const Epilogue& epilogue,
                                           const View<Out>& out, std::int64_t m0, std::int64_t n0) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t m = m0 + row_of_sum(lane, 0), n = n0 + column_of_sum(lane, 0);
    const bool with_out = epilogue.beta != 0, with_bias = epilogue.bias.data != nullptr;
    const auto inside = [](std::int64_t extent, std::int64_t first, int further) {
        return further < static_cast<int>(min(extent - first, std::int64_t{1024}));
    };
#pragma unroll
    for (int j = 0; j < ACROSS; ++j) {
        const bool column = inside(out.extent(1), n, 8 * j);  // and the next: N is even
        float bias[2];
        for (int e = 0; e < 2; ++e) {
            bias[e] = gpu::load_if(with_bias && column, &epilogue.bias(n + 8 * j + e));
        }
#pragma unroll
        for (int i = 0; i < 2 * DOWN; ++i) {
            const int down = 64 * (i / 2) + 8 * (i % 2);
            const float2 before = load_pair(&out(m, n) + down * out.stride(0) + 8 * j,
                                            with_out && column && inside(out.extent(0), m, down));
            float(&s)[4] = sum[i / 2][j];
            s[i % 2 * 2] = epilogue.beta * before.x + bias[0];
            s[i % 2 * 2 + 1] = epilogue.beta * before.y + bias[1];
        }
    }
}
// [begin]

// [store]
/// Stores a warp's sums, 16 of every 64 rows, through the copy engine, which leaves out what lies
/// beyond the edges of out. The first belongs to (m0, n0).
template <int DOWN, int ACROSS, class Out>
__device__ __forceinline__ void store_boxes(const float (&sum)[DOWN][ACROSS][4], bool relu,
                                            const gpu::TileMap& map, Out* boxes, std::int64_t m0,
                                            std::int64_t n0) {
    constexpr int kColumns = kBoxColumns<Out>, kAcross = ACROSS / (kColumns / 8);
    constexpr int kChunk = 16 / sizeof(Out);      // the swizzle moves 16 bytes together
    static_assert(DOWN * kAcross % kBoxes == 0);  // the next tile begins with box 0
    const int lane = static_cast<int>(threadIdx.x % 32), row = row_of_sum(lane, 0);
    const auto keep = [relu](float x) { return relu && x < 0 ? 0 : x; };
#pragma unroll
    for (int i = 0; i < DOWN * kAcross; ++i) {
        Out* const box = boxes + i % kBoxes * kBox<Out>;
        if (lane == 0) gpu::store_tiles_wait_read<kBoxes - 1>();
        __syncwarp();  // the engine has read the box's previous sums
#pragma unroll
        for (int j = 0; j < kColumns / 8; ++j) {
            const float(&s)[4] = sum[i / kAcross][i % kAcross * (kColumns / 8) + j];
            const int column = 8 * j + column_of_sum(lane, 0);
            Out* const pair =
                box + row * kColumns + (column / kChunk ^ row) * kChunk + column % kChunk;
            store_pair(pair, keep(s[0]), keep(s[1]));
            store_pair(pair + 8 * kColumns, keep(s[2]), keep(s[3]));
        }
        gpu::fence_proxy_async();
        __syncwarp();  // the box is full, and the engine sees it
        if (lane == 0) {
            gpu::store_tile_async(map, m0 + i / kAcross * 64, n0 + i % kAcross * kColumns, box);
            gpu::store_tiles_commit();
        }
    }
}
// [store]

/// @tparam BEGIN  is there a bias or a beta? Then the sums begin with them
// down: tiles per column of tiles before moving right
template <class S, bool BEGIN, class Out>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    matmul_bf16_ping_pong_kernel(const __grid_constant__ gpu::TileMap map_a,
                                 const __grid_constant__ gpu::TileMap map_b,
                                 const __grid_constant__ gpu::TileMap map_out, std::int64_t K,
                                 const __grid_constant__ Epilogue epilogue,
                                 const __grid_constant__ View<Out> out, unsigned tiles,
                                 unsigned down) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier barriers[2 * S::kStages], turns[S::kGroups];
    const S stages(memory, barriers);
    Out* const boxes = gpu::SharedTiles(memory + S::kBytes).next<Out>(8 * kBoxes * kBox<Out>);
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
    Out* const own = boxes + warp * kBoxes * kBox<Out>;
    const auto stages_of_tile = static_cast<unsigned>((K + kDepth - 1) / kDepth);
    // [turns]
    Order order(turns[group], turns[1 - group], group == 0);
    turn.skip(group * stages_of_tile);
    for (unsigned t = blockIdx.x + group * gridDim.x; t < tiles; t += 2 * gridDim.x) {
        const TileAt at = tile_at(out, S::kM, S::kN, t, down);
        const std::int64_t m0 = at.m0 + warp % 4 * 16;
        float sum[S::kDown][S::kN / 8][4] = {};
        if constexpr (BEGIN) begin_sums(sum, epilogue, out, m0, at.n0);
        order.wait();
        multiply_tiles(sum, stages, 0, K, turn);
        order.pass();  // all stages of this tile have arrived, and the last is being multiplied
        release_last(sum, stages, K, turn);
        turn.skip(stages_of_tile);  // the other consumer's tile
        store_boxes(sum, epilogue.relu, map_out, own, m0, at.n0);
    }
    // [turns]
    // Shared memory must exist until the engine has read the last boxes.
    if (threadIdx.x % 32 == 0) gpu::store_tiles_wait_read<0>();
}

}  // namespace

template <class T, class Out>
void launch_matmul_bf16_ping_pong(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                  View<Out> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    const auto launch = [&](auto a_across, auto b_across, auto begin) {
        using S =
            Stages<T, 128, 128, kSquareStages, a_across.value, b_across.value, /*TAKE_TURNS*/ true>;
        const gpu::TileMap map_a = tile_map(x.a, S::A::kRowsOfTile);
        const gpu::TileMap map_b = tile_map(x.b, S::B::kRowsOfTile);
        const gpu::TileMap map_out =
            gpu::tile_map(out.data, out.extent(0), out.extent(1), out.stride(0), kBoxRows);
        constexpr std::size_t kBytes = S::kBytes + gpu::tile_bytes<Out>(8 * kBoxes * kBox<Out>);
        const unsigned tiles = blocks_for_tiles(out, S::kM, S::kN);
        const unsigned grid = std::min(tiles, static_cast<unsigned>(gpu::multiprocessors()));
        gpu::allow_shared(matmul_bf16_ping_pong_kernel<S, begin.value, Out>, kBytes);
        gpu::require_registers<matmul_bf16_ping_pong_kernel<S, begin.value, Out>>(
            S::kThreads, S::kGiven, S::kRegisters);
        matmul_bf16_ping_pong_kernel<S, begin.value, Out><<<grid, S::kThreads, kBytes, stream>>>(
            map_a, map_b, map_out, x.K, epilogue, out, tiles, tiles_down<S>());
        gpu::check_launch("matmul_bf16_ping_pong_kernel", grid, S::kThreads, kBytes);
    };
    const bool begins = epilogue.beta != 0 || epilogue.bias.data != nullptr;
    with_orders(x, [&](auto a_across, auto b_across) {
        begins ? launch(a_across, b_across, std::true_type{})
               : launch(a_across, b_across, std::false_type{});
    });
}

template void launch_matmul_bf16_ping_pong(View<const bf16>, View<const bf16>, const Epilogue&,
                                           View<float>, gpu::Stream);
template void launch_matmul_bf16_ping_pong(View<const bf16>, View<const bf16>, const Epilogue&,
                                           View<bf16>, gpu::Stream);
template void launch_matmul_bf16_ping_pong(View<const f16>, View<const f16>, const Epilogue&,
                                           View<float>, gpu::Stream);
template void launch_matmul_bf16_ping_pong(View<const f16>, View<const f16>, const Epilogue&,
                                           View<f16>, gpu::Stream);

}  // namespace sixdays::day05_matmul
