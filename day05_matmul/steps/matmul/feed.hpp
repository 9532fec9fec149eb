/// @file
/// For .cu files: the ring of step 13, which has no guards. It brings whole tiles of both operands
/// to shared memory and hands them out k by k.
#pragma once

#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul/copies.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {

/// WARPS_M x WARPS_N warps per block, 8 x 4 lanes per warp, TM x TN outputs per thread. BLOCKS
/// blocks run on an SM at once; copies start during the first SPREAD k's of a tile.
template <int WARPS_M, int WARPS_N, int TM_, int TN_, int STAGES, int BLOCKS, int SPREAD>
struct TileShape {
    static constexpr int TM = TM_, TN = TN_, BK = 16, kStages = STAGES, kBlocks = BLOCKS;
    static constexpr int kSpread = SPREAD;
    static_assert(SPREAD < BK, "the last copy must start before the wait that counts it");
    static constexpr int kWarpsM = WARPS_M, kThreads = WARPS_M * WARPS_N * 32;
    static constexpr int BM = WARPS_M * 8 * TM, BN = WARPS_N * 4 * TN;
};

template <class C, Lanes LANES_A, Lanes LANES_B>
struct Feed {
    using A = Copies<C::BM, C::BK, C::kThreads, LANES_A>;
    using B = Copies<C::BN, C::BK, C::kThreads, LANES_B>;
    static constexpr std::size_t kBytes = gpu::tile_bytes<float>(C::kStages * A::kTile) +
                                          gpu::tile_bytes<float>(C::kStages * B::kTile);

    A a;
    B b;
    float *tiles_a, *tiles_b;    // stage 0
    int left;                    // how many more times the pointers may advance
    int stage = 0;               // the stage being multiplied
    int ahead = C::kStages - 1;  // the stage being filled
    int m0, n0;                  // this thread's first output

    __device__ __forceinline__ Feed(const Problem& x, const Tile& tile, unsigned char* memory)
        : a(tile.a, x.a_m, x.a_k), b(tile.b, x.b_n, x.b_k) {
        gpu::SharedTiles shared(memory);
        tiles_a = shared.next<float>(C::kStages * A::kTile);
        tiles_b = shared.next<float>(C::kStages * B::kTile);
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        // 8 lanes down and 4 across. With few outputs per lane, loads dominate, and an order in
        // which adjacent lanes alternate in both was measured to be faster.
        constexpr bool kPairs = C::TM < 8;
        const int down = kPairs ? lane / 2 % 8 : lane / 4;
        const int across = kPairs ? lane % 2 + lane / 16 * 2 : lane % 4;
        m0 = warp % C::kWarpsM * 8 * C::TM + down * 4;
        n0 = warp / C::kWarpsM * 4 * C::TN + across * 4;
    }

    /// Advances to the next tile. After the last one it does not: that one is copied again.
    __device__ __forceinline__ void advance(int k) {
        if (left > 0) a.advance(k), b.advance(k);
        --left;
    }

    /// Fills all stages but one. The first tile has the remainder of K after whole tiles, and
    /// zeros.
    /// @param tiles  how many tiles K has
    __device__ __forceinline__ void fill(int tiles, int depth_of_first) {
        left = tiles - 1;
        a.start_ragged(tiles_a, depth_of_first);
        b.start_ragged(tiles_b, depth_of_first);
        gpu::copy_async_commit();
        advance(depth_of_first);
#pragma unroll
        for (int s = 1; s < C::kStages - 1; ++s) {
            for (int i = 0; i < A::kEach; ++i) a.start(i, tiles_a + s * A::kTile);
            for (int i = 0; i < B::kEach; ++i) b.start(i, tiles_b + s * B::kTile);
            gpu::copy_async_commit();
            advance(C::BK);
        }
    }

    /// The copies of a tile that belong to this k, and after the last of them the commit.
    __device__ __forceinline__ void start(int k) {
        constexpr int SPREAD = C::kSpread;
        if (k >= SPREAD) return;
        float* const to_a = tiles_a + ahead * A::kTile;
        float* const to_b = tiles_b + ahead * B::kTile;
#pragma unroll
        for (int i = A::kEach * k / SPREAD; i < A::kEach * (k + 1) / SPREAD; ++i) a.start(i, to_a);
#pragma unroll
        for (int i = B::kEach * k / SPREAD; i < B::kEach * (k + 1) / SPREAD; ++i) b.start(i, to_b);
        if (k < SPREAD - 1) return;
        gpu::copy_async_commit();
        advance(C::BK);
        ahead = ahead == C::kStages - 1 ? 0 : ahead + 1;
    }

    /// Waits until the oldest tile in flight is complete for all threads, and all have read the one
    /// before it.
    __device__ __forceinline__ void wait() {
        gpu::copy_async_wait<C::kStages - 2>();
        __syncthreads();
    }
    __device__ __forceinline__ void next_stage() {
        wait();
        stage = stage == C::kStages - 1 ? 0 : stage + 1;
    }

    /// The elements that this thread multiplies for one k.
    __device__ __forceinline__ void load(int k, float (&ra)[C::TM], float (&rb)[C::TN]) const {
        const float* const row_a = tiles_a + stage * A::kTile + k * A::kPitch + m0;
        const float* const row_b = tiles_b + stage * B::kTile + k * B::kPitch + n0;
#pragma unroll
        for (int i = 0; i < C::TM; i += 4) load_vector(row_a + i * 8, ra + i);
#pragma unroll
        for (int j = 0; j < C::TN; j += 4) load_vector(row_b + j * 4, rb + j);
    }
};

}  // namespace sixdays::day05_matmul
