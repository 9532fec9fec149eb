// Step 6, for Hopper: nobody who multiplies copies, and nobody who copies multiplies. One thread asks
// the copy engine for tile after tile; the engine fills a stage, edges and swizzle included, and says
// so at the stage's barrier `full`. Two warpgroups wait there and give the whole stage to the tensor
// cores, which read it straight from shared memory: no fragments, no addresses. When a stage is
// multiplied they say so at its barrier `empty`, where the copying thread waits.
#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/ptx/mbarrier.hpp"
#include "common/gpu/ptx/tma.hpp"
#include "common/gpu/ptx/wgmma.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"
#include "day05_matmul/steps/matmul_bf16/warps.hpp"

namespace sixdays::day05_matmul {
namespace {

// [turn]
/// Whose turn is it: the stage, and the parity of its barriers' phase.
template <int STAGES>
struct Turn {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
        if (++stage < STAGES) return;
        stage = 0;
        parity ^= 1;
    }
    __device__ __forceinline__ int stage_before() const {
        return stage == 0 ? STAGES - 1 : stage - 1;
    }
};
// [turn]

/// An operand's tiles in shared memory, of SIZE m's or n's each. Rows of 64 k's; or else, ACROSS,
/// panels side by side, each with 64 rows of 64 m's or n's.
template <class T, bool ACROSS, int SIZE>
struct Tiles {
    static constexpr int kNumbers = SIZE * kDepth, kPanelBytes = kDepth * 128;
    static constexpr int kRowsOfTile = ACROSS ? kDepth : SIZE;  // that are copied at once
    static constexpr int kStep = ACROSS ? 16 * 128 : 16 * 2;    // bytes from 16 k's to the next
    T* first;

    __device__ __forceinline__ T* at(int stage) const { return first + stage * kNumbers; }
    // [fetch]
    /// Asks for the tile of m's or n's from `begin` on, and k's from k0 on.
    __device__ __forceinline__ void fetch(int stage, const gpu::TileMap& map, std::int64_t begin,
                                          std::int64_t k0, gpu::Mbarrier& full) const {
        if constexpr (ACROSS) {
            for (int i = 0; i < SIZE; i += 64) {
                gpu::copy_tile_async(at(stage) + i * kDepth, map, k0, begin + i, full);
            }
        } else {
            gpu::copy_tile_async(at(stage), map, begin, k0, full);
        }
    }
    // [fetch]
    /// Of its m's or n's those from `i` on, a multiple of 64, as an operand.
    __device__ __forceinline__ gpu::WgmmaTile operand(int stage, int i) const {
        return gpu::wgmma_tile(at(stage) + i * kDepth, kPanelBytes);
    }
};

/// A ring of stages with two barriers each. `full`: its tiles have come. `empty`: both warpgroups
/// have multiplied them.
template <class T, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS>
struct Stages {
    using Element = T;
    static constexpr int kM = 128, kN = BN, kStages = STAGES;
    static constexpr int kGroups = kM / 64, kThreads = 128 * (1 + kGroups);
    static constexpr bool kAcrossA = A_ACROSS, kAcrossB = B_ACROSS;
    using A = Tiles<T, A_ACROSS, kM>;
    using B = Tiles<T, B_ACROSS, kN>;
    static constexpr unsigned kStageBytes = (A::kNumbers + B::kNumbers) * sizeof(T);
    static constexpr std::size_t kBytes = STAGES * std::size_t{kStageBytes};
    A a;
    B b;
    gpu::Mbarrier *full, *empty;

    __device__ __forceinline__ Stages(unsigned char* memory, gpu::Mbarrier* barriers)
        : full(barriers), empty(barriers + STAGES) {
        gpu::SharedTiles tiles(memory);
        a.first = tiles.next<T>(STAGES * A::kNumbers);
        b.first = tiles.next<T>(STAGES * B::kNumbers);
    }
    __device__ __forceinline__ void set_up() const {
        if (threadIdx.x == 0) {
            for (int s = 0; s < STAGES; ++s) {
                full[s].init(1);         // the copying thread
                empty[s].init(kGroups);  // a thread of each warpgroup
            }
            gpu::mbarriers_are_set_up();
        }
        __syncthreads();
    }
};

// [copy]
/// What the copying thread does.
template <class S>
__device__ __forceinline__ void copy_tiles(const S& stages, const gpu::TileMap& map_a,
                                           const gpu::TileMap& map_b, TileAt at, std::int64_t K) {
    Turn<S::kStages> turn;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        stages.empty[turn.stage].wait(turn.parity ^ 1);  // at first they are
        gpu::Mbarrier& full = stages.full[turn.stage];
        full.arrive_and_expect(S::kStageBytes);
        stages.a.fetch(turn.stage, map_a, at.m0, k0, full);
        stages.b.fetch(turn.stage, map_b, at.n0, k0, full);
        turn.next();
    }
}
// [copy]

// [multiply]
/// What a warpgroup does: 64 x kN sums, of the tile's m's from `m` on.
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
        gpu::wgmma_wait<1>();  // until the stage before is multiplied
        if (k0 > 0 && threadIdx.x % 128 == 0) stages.empty[turn.stage_before()].arrive();
        turn.next();
    }
    gpu::wgmma_wait<0>(sum);
}
// [multiply]

// [kernel]
template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
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
        gpu::give_registers<40>();
        if (threadIdx.x % 128 == 0) copy_tiles(stages, map_a, map_b, at, K);
    } else {
        gpu::take_registers<232>();
        float sum[1][S::kN / 8][4] = {};
        multiply_tiles(sum[0], stages, 64 * group, K);
        const int m = 64 * group + static_cast<int>(threadIdx.x % 128 / 32 * 16);
        const bool inside = at.m0 + S::kM <= out.extent(0) && at.n0 + S::kN <= out.extent(1);
        store_sums(sum, epilogue, out, at.m0 + m, at.n0, inside);
    }
}
// [kernel]

/// Calls f(std::type_identity<S>) with the stages for these operands.
template <class T, class F>
void with_stages(const Operands16<T>& x, const View<float>& out, const F& f) {
    const auto cut =
        cut_for_ring(out.extent(0), out.extent(1), gpu::multiprocessors(), gpu::most_shared());
    const auto with = [&](auto a_across, auto b_across) {
        constexpr bool kA = a_across.value, kB = b_across.value;
        if (cut == RingCut::wide) return f(std::type_identity<Stages<T, 256, 4, kA, kB>>{});
        return f(std::type_identity<Stages<T, 128, 4, kA, kB>>{});
    };
    using Yes = std::true_type;
    using No = std::false_type;
    if (x.a_across) return x.b_across ? with(Yes{}, Yes{}) : with(Yes{}, No{});
    return x.b_across ? with(No{}, Yes{}) : with(No{}, No{});
}

}  // namespace

template <class T>
void launch_matmul_bf16_warpgroups(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                   View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_stages(x, out, [&]<class S>(std::type_identity<S>) {
        const auto map = [&](const Rows16<T>& of, int rows) {
            // Of no k's nothing is copied.
            return x.K == 0 ? gpu::TileMap{}
                            : gpu::tile_map(of.data, of.rows, of.columns, of.pitch, rows);
        };
        const gpu::TileMap map_a = map(x.a, S::A::kRowsOfTile), map_b = map(x.b, S::B::kRowsOfTile);
        const unsigned grid = blocks_for_tiles(out, S::kM, S::kN);
        gpu::allow_shared(matmul_bf16_warpgroups_kernel<S>, S::kBytes);
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
