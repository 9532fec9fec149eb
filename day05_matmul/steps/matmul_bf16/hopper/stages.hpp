/// @file
/// For .cu files: shared by steps 6 to 8, the ring of stages that Hopper's copy engine (TMA)
/// fills.
#pragma once

#include <type_traits>

#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/ptx/mbarrier.hpp"
#include "common/gpu/ptx/tma.hpp"
#include "common/gpu/ptx/wgmma.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/steps/matmul_bf16/warps.hpp"

namespace sixdays::day05_matmul {

/// Pipeline state: the stage, and the parity of its barriers' phase.
template <int STAGES>
struct Turn {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
        if (++stage < STAGES) return;
        stage = 0;
        parity ^= 1;
    }
    /// Leaves out this many stages, which another warpgroup multiplies.
    __device__ __forceinline__ void skip(unsigned stages) {
        const unsigned next = static_cast<unsigned>(stage) + stages;
        stage = static_cast<int>(next % STAGES);
        parity ^= next / STAGES % 2;
    }
    __device__ __forceinline__ int stage_before() const {
        return stage == 0 ? STAGES - 1 : stage - 1;
    }
};

/// A warpgroup's turns to issue its products (ping-pong scheduling). In a ring that warpgroups share,
/// it also keeps a consumer from waiting at `full` for a phase that lies two rounds ahead: phases two
/// apart have the same parity.
struct Order {
    gpu::Mbarrier *mine, *next;  // each expects one lane of each of four warps
    unsigned parity;

    /// @param first  it does not wait for its first turn
    __device__ __forceinline__ Order(gpu::Mbarrier& own, gpu::Mbarrier& of_next, bool first)
        : mine(&own), next(&of_next), parity(first ? 1 : 0) {}
    __device__ __forceinline__ void wait() {
        mine->wait(parity);
        parity ^= 1;
    }
    __device__ __forceinline__ void pass() const {
        __syncwarp();  // all lanes have passed this wait before its parity comes around again
        if (threadIdx.x % 32 == 0) next->arrive();
    }
};

/// An operand's tiles in shared memory, SIZE m's or n's each. K-major: rows of 64 k's. MN-major
/// (ACROSS): panels side by side, each with 64 rows of 64 m's or n's.
template <class T, bool ACROSS, int SIZE>
struct Tiles {
    static constexpr int kNumbers = SIZE * kDepth, kPanelBytes = kDepth * 128;
    static constexpr int kRowsOfTile = ACROSS ? kDepth : SIZE;  // rows of one TMA copy
    static constexpr int kStep = ACROSS ? 16 * 128 : 16 * 2;    // bytes per step of 16 k's
    T* first;

    __device__ __forceinline__ T* at(int stage) const { return first + stage * kNumbers; }
    /// Asks for the tile that begins at `begin` along m or n and at k0 along k.
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
    /// The wgmma operand that begins at m or n = `i`, a multiple of 64.
    __device__ __forceinline__ gpu::WgmmaTile operand(int stage, int i) const {
        return gpu::wgmma_tile(at(stage) + i * kDepth, kPanelBytes);
    }
};

/// A ring of stages with two barriers each. `full`: its tiles have arrived. `empty`: the consumer
/// warps that multiply them have done so.
/// @tparam TAKE_TURNS  two consumer warpgroups multiply a whole tile of outputs each, in turn (step
/// 8), instead of 64 rows each of one tile
template <class T, int BM, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS,
          bool TAKE_TURNS = false>
struct Stages {
    using Element = T;
    static constexpr int kM = BM, kN = BN, kStages = STAGES;
    static constexpr int kGroups = TAKE_TURNS ? 2 : kM / 64, kThreads = 128 * (1 + kGroups);
    static constexpr int kDown = TAKE_TURNS ? kM / 64 : 1;     // a consumer's outputs in 64 rows
    static constexpr int kReaders = TAKE_TURNS ? 1 : kGroups;  // warpgroups that read a stage
    // Two consumer warpgroups run per SM, in one block or in two. An SM has 65,536 registers: 512
    // for each of 128 threads. The consumers of a block share what the producer warpgroup's kGiven
    // leaves.
    static constexpr int kBlocks = 2 / kGroups, kGiven = 40;
    static constexpr int kRegisters = (512 / kBlocks - kGiven) / kGroups / 8 * 8;
    static constexpr bool kAcrossA = A_ACROSS, kAcrossB = B_ACROSS;
    using A = Tiles<T, A_ACROSS, kM>;
    using B = Tiles<T, B_ACROSS, kN>;
    static constexpr unsigned kStageBytes = (A::kNumbers + B::kNumbers) * sizeof(T);
    static constexpr std::size_t kBytes = STAGES * std::size_t{kStageBytes};
    static_assert(A::kNumbers * sizeof(T) % gpu::kSwizzleBytes == 0 &&
                  B::kNumbers * sizeof(T) % gpu::kSwizzleBytes == 0 &&
                  A::kPanelBytes % gpu::kSwizzleBytes == 0);
    static_assert(gpu::registers_suffice(gpu::registers_of_bound(kThreads, kBlocks), kThreads,
                                         kGiven, kRegisters));
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
                full[s].init(1);              // the producer
                empty[s].init(4 * kReaders);  // one lane of each warp that reads the stage
            }
            gpu::mbarriers_are_set_up();
        }
        __syncthreads();
    }
};

/// An operand without elements is never copied.
template <class T>
gpu::TileMap tile_map(const Rows16<T>& of, int rows_of_tile) {
    if (of.rows == 0 || of.columns == 0) return {};
    return gpu::tile_map(of.data, of.rows, of.columns, of.pitch, rows_of_tile);
}

#ifdef SIXDAYS_EMULATED
inline constexpr int kSquareStages = 4, kMiddleStages = 3;  // the emulator grants 163 KiB
#else
inline constexpr int kSquareStages = 6, kMiddleStages = 5;
#endif
inline constexpr std::size_t kMiddleBytes =
    Stages<bf16, 128, 192, kMiddleStages, false, false>::kBytes;
static_assert(kMiddleBytes <= kMiddleRing);

/// Calls f with two constants: are a and b MN-major?
template <class T, class F>
void with_orders(const Operands16<T>& x, const F& f) {
    using Yes = std::true_type;
    using No = std::false_type;
    if (x.a_across) return x.b_across ? f(Yes{}, Yes{}) : f(Yes{}, No{});
    return x.b_across ? f(No{}, Yes{}) : f(No{}, No{});
}

/// Calls f(std::type_identity<S>) with the stages for these operands in steps 6 and 7.
template <class T, class F>
void with_stages(const Operands16<T>& x, const View<float>& out, const F& f) {
    const auto cut = cut_for_hopper(out.extent(0), out.extent(1), gpu::multiprocessors(),
                                    gpu::most_shared(), kMiddleBytes);
    with_orders(x, [&](auto a_across, auto b_across) {
        constexpr bool kA = a_across.value, kB = b_across.value;
        if (cut == RingCut::small) return f(std::type_identity<Stages<T, 64, 64, 6, kA, kB>>{});
        if (cut == RingCut::wide) return f(std::type_identity<Stages<T, 128, 256, 4, kA, kB>>{});
        if (cut == RingCut::middle) {
            return f(std::type_identity<Stages<T, 128, 192, kMiddleStages, kA, kB>>{});
        }
        return f(std::type_identity<Stages<T, 128, 128, kSquareStages, kA, kB>>{});
    });
}

}  // namespace sixdays::day05_matmul
