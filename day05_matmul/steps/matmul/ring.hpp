/// @file
/// For .cu files: shared by steps 9 to 12. Tiles of a and b are in a ring of stages: while one is
/// multiplied, the next ones are in flight. 256 threads, 2 x 4 warps, 8 x 4 lanes per warp.
#pragma once

#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {

/// @tparam BM, BN  a block's outputs
/// @tparam BK      how much of k a tile has
template <int BM, int BN, int BK, int STAGES>
struct Ring {
    static constexpr int kThreads = 256;
    static constexpr int TM = BM / 16, TN = BN / 16;  // a thread's outputs
    static constexpr int kPitch = BM + 4;             // of a's tile, which is stored transposed
    static constexpr int kStageA = BK * kPitch, kStageB = BK * BN;
    static constexpr std::size_t kBytes =
        gpu::tile_bytes<float>(STAGES * kStageA) + gpu::tile_bytes<float>(STAGES * kStageB);
    static constexpr int kCopiesA = BM * BK / kThreads, kCopiesB = BK * BN / 4 / kThreads;

    float *a, *b;  // stage 0
    int m0, n0;    // this thread's first output in the tile

    __device__ __forceinline__ explicit Ring(unsigned char* memory) {
        gpu::SharedTiles tiles(memory);
        a = tiles.next<float>(STAGES * kStageA);
        b = tiles.next<float>(STAGES * kStageB);
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        m0 = warp / 4 * (BM / 2) + lane / 4 * 4;
        n0 = warp % 4 * (BN / 4) + lane % 4 * 4;
    }

    /// Starts copy i of this thread of a's tile, k0 to k0 + BK: one element, stored transposed. A
    /// warp takes 4 rows of 8 elements: 4 whole sectors, and 32 banks.
    __device__ __forceinline__ void copy_a(const Problem& x, const Tile& tile, std::int64_t k0,
                                           int stage, int i) const {
        const int e = static_cast<int>(threadIdx.x) + i * kThreads;
        const int m = e / 8 % BM, k = e % 8 + e / 8 / BM * 8;
        const bool inside = m < tile.rows && k0 + k < x.K;
        const float* const from = tile.a + (inside ? m * x.a_m + (k0 + k) * x.a_k : 0);
        gpu::copy_async<4>(a + stage * kStageA + k * kPitch + m, from, inside ? 4 : 0);
    }

    /// The same for a float4 of b.
    __device__ __forceinline__ void copy_b(const Problem& x, const Tile& tile, std::int64_t k0,
                                           int stage, int i) const {
        const int e = static_cast<int>(threadIdx.x) + i * kThreads;
        const int n = e % (BN / 4) * 4, k = e / (BN / 4);
        const int left = k0 + k < x.K ? tile.columns - n : 0;
        const float* const from = tile.b + (left > 0 ? (k0 + k) * x.b_k + n : 0);
        gpu::copy_async<16>(b + stage * kStageB + k * BN + n, from,
                            left >= 4 ? 16 : (left > 0 ? 4 * left : 0));
    }

    __device__ __forceinline__ void copy_tiles(const Problem& x, const Tile& tile, std::int64_t k0,
                                               int stage) const {
        for (int i = 0; i < kCopiesA; ++i) copy_a(x, tile, k0, stage, i);
        for (int i = 0; i < kCopiesB; ++i) copy_b(x, tile, k0, stage, i);
    }

    /// The elements that this thread multiplies for one k: groups of four adjacent ones, 32 rows or
    /// 16 columns apart.
    __device__ __forceinline__ void load(int stage, int k, float (&ra)[TM], float (&rb)[TN]) const {
        const float* const row_a = a + stage * kStageA + k * kPitch + m0;
        const float* const row_b = b + stage * kStageB + k * BN + n0;
        for (int i = 0; i < TM; i += 4) load_vector(row_a + i * 8, ra + i);
        for (int j = 0; j < TN; j += 4) load_vector(row_b + j * 4, rb + j);
    }

    __device__ __forceinline__ void store(const Problem& x, const Tile& tile,
                                          float (&sum)[TM][TN]) const {
        store_all(
            x, tile, sum, [&](int i) { return m0 + i / 4 * 32 + i % 4; },
            [&](int j) { return n0 + j * 4; });
    }
};

}  // namespace sixdays::day05_matmul
