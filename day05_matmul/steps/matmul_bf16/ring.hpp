/// @file
/// For .cu files: shared by steps 4 and 5, the ring of tiles and the copies that fill it.
#pragma once

#include <type_traits>

#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/steps/matmul_bf16/warps.hpp"

namespace sixdays::day05_matmul {

/// Starts this thread's copies of the tile of `of` that begins at (row0, column0): 16 bytes of one
/// row and of later rows. Elements outside the matrix become 0.
template <int ROWS, int COLUMNS, int THREADS, class T>
__device__ __forceinline__ void copy_tile(Panel<T, ROWS> tile, const Rows16<T>& of,
                                          std::int64_t row0, std::int64_t column0) {
    constexpr int kStep = THREADS / (COLUMNS / 8);  // rows between copies
    static_assert(kStep % 8 == 0, "all copies of a thread have the same swizzled position");
    const int i = static_cast<int>(threadIdx.x);
    const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
    const std::int64_t rows = of.rows - row0 - row, columns = of.columns - column0 - column;
    const int valid = columns >= 8 ? 16 : columns > 0 ? 2 * static_cast<int>(columns) : 0;
    const T* from = of.data + (row0 + row) * of.pitch + column0 + column;
    T* const to = tile.at(row, column);
#pragma unroll
    for (int r = 0; r < ROWS; r += kStep) {
        gpu::copy_async<16>(to + r * 64, from, r < rows ? valid : 0);
        from += kStep * of.pitch;
    }
}

/// The ring: where the tiles of a stage are, and how they are filled.
/// @tparam A_ACROSS, B_ACROSS  do the rows of a's or b's tile hold m's or n's instead of k's?
template <class T, int BM, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS>
struct Ring16 {
    using Element = T;
    static constexpr int kM = BM, kN = BN, kStages = STAGES, kThreads = Warps<BM, BN>::kThreads;
    static constexpr bool kAcrossA = A_ACROSS, kAcrossB = B_ACROSS;
    static constexpr int kRowsA = A_ACROSS ? kDepth : BM, kRowsB = B_ACROSS ? kDepth : BN;
    static constexpr std::size_t kBytes =
        gpu::tile_bytes<T>(STAGES * BM * kDepth) + gpu::tile_bytes<T>(STAGES * BN * kDepth);
    T *a, *b;  // stage 0

    __device__ __forceinline__ explicit Ring16(unsigned char* memory) {
        gpu::SharedTiles tiles(memory);
        a = tiles.next<T>(STAGES * BM * kDepth);
        b = tiles.next<T>(STAGES * BN * kDepth);
    }
    __device__ __forceinline__ Panel<T, kRowsA> tile_a(int stage) const {
        return {a + stage * BM * kDepth};
    }
    __device__ __forceinline__ Panel<T, kRowsB> tile_b(int stage) const {
        return {b + stage * BN * kDepth};
    }
    __device__ __forceinline__ void copy(const Rows16<T>& of_a, const Rows16<T>& of_b, TileAt at,
                                         std::int64_t k0, int stage) const {
        if constexpr (A_ACROSS) {
            copy_tile<kDepth, BM, kThreads>(tile_a(stage), of_a, k0, at.m0);
        } else {
            copy_tile<BM, kDepth, kThreads>(tile_a(stage), of_a, at.m0, k0);
        }
        if constexpr (B_ACROSS) {
            copy_tile<kDepth, BN, kThreads>(tile_b(stage), of_b, k0, at.n0);
        } else {
            copy_tile<BN, kDepth, kThreads>(tile_b(stage), of_b, at.n0, k0);
        }
    }
};

/// Calls f(std::type_identity<R>) with the ring for these operands: cut_for_ring() chooses the size
/// of its tiles.
template <class T, class Out, class F>
void with_ring(const Operands16<T>& x, const View<Out>& out, const F& f) {
    const auto cut =
        cut_for_ring(out.extent(0), out.extent(1), gpu::multiprocessors(), gpu::most_shared());
    const auto with = [&](auto a_across, auto b_across) {
        constexpr bool kA = a_across.value, kB = b_across.value;
        if (cut == RingCut::wide) return f(std::type_identity<Ring16<T, 128, 256, 4, kA, kB>>{});
        return f(std::type_identity<Ring16<T, 128, 128, 3, kA, kB>>{});
    };
    using Yes = std::true_type;
    using No = std::false_type;
    if (x.a_across) return x.b_across ? with(Yes{}, Yes{}) : with(Yes{}, No{});
    return x.b_across ? with(No{}, Yes{}) : with(No{}, No{});
}

}  // namespace sixdays::day05_matmul
