/// @file
/// For .cu files: shared by steps 3 to 8. A block computes BM x BN outputs with eight warps, two
/// down and four across; a tile has a depth of 64 k's.
#pragma once

#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul_bf16/panel.hpp"
#include "day05_matmul/steps/matmul_bf16/sums.hpp"

namespace sixdays::day05_matmul {

inline constexpr int kDepth = 64;  // k's in a tile

template <int BM, int BN>
struct Warps {
    static constexpr int kThreads = 256;
    static constexpr int kRows = BM / 2, kColumns = BN / 4;           // a warp's outputs
    static constexpr int kDown = kRows / 16, kAcross = kColumns / 8;  // the same in fragments

    int m, n;  // offset of this warp's outputs in the block's
    float sum[kDown][kAcross][4] = {};

    __device__ __forceinline__ Warps() {
        const int warp = static_cast<int>(threadIdx.x / 32);
        m = warp / 4 * kRows;
        n = warp % 4 * kColumns;
    }

    /// Adds the products of 16 k's: each fragment of a times each of b.
    template <class T>
    __device__ __forceinline__ void add(const std::uint32_t (&a)[kDown][4],
                                        const std::uint32_t (&b)[kAcross / 2][2][2]) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                gpu::mma_16x8x16<T>(sum[i][j], a[i], b[j / 2][j % 2]);
            }
        }
    }

    /// Adds the product of two tiles.
    /// @param load_fragment_a  (to, m, k)
    /// @param load_fragments_b  (to, k, n): two adjacent ones
    template <class T, class A, class B>
    __device__ __forceinline__ void multiply(const A& load_fragment_a, const B& load_fragments_b) {
#pragma unroll
        // [fragments]
        for (int k = 0; k < kDepth; k += 16) {
            std::uint32_t a[kDown][4], b[kAcross / 2][2][2];
            for (int i = 0; i < kDown; ++i) load_fragment_a(a[i], m + 16 * i, k);
            for (int j = 0; j < kAcross / 2; ++j) load_fragments_b(b[j], k, n + 16 * j);
            add<T>(a, b);
        }
        // [fragments]
    }

    /// @param m0, n0  offset of the block's outputs
    template <class Out>
    __device__ __forceinline__ void store(const Epilogue& epilogue, const View<Out>& out,
                                          std::int64_t m0, std::int64_t n0) const {
        const bool inside = m0 + BM <= out.extent(0) && n0 + BN <= out.extent(1);
        store_sums(sum, epilogue, out, m0 + m, n0 + n, inside);
    }
};

/// One block per BM x BN outputs.
template <class Out>
unsigned blocks_for_tiles(const View<Out>& out, int BM, int BN) {
    return gpu::blocks_for((out.extent(0) + BM - 1) / BM * ((out.extent(1) + BN - 1) / BN), 1);
}

/// Where tile number `tile` begins. Blocks that run together should read the same tiles of a and b
/// while these are in the L2 cache. So tiles are numbered column by column within `many` rows of
/// tiles, then in the next rows.
struct TileAt {
    std::int64_t m0, n0;
};
template <class Out>
__device__ __forceinline__ TileAt tile_at(const View<Out>& out, int BM, int BN, unsigned tile,
                                          unsigned many) {
    const auto down = static_cast<unsigned>((out.extent(0) + BM - 1) / BM);
    const auto across = static_cast<unsigned>((out.extent(1) + BN - 1) / BN);
    const unsigned first = tile / (many * across) * many, i = tile % (many * across);
    const unsigned rows = down - first < many ? down - first : many;
    return {std::int64_t{first + i % rows} * BM, std::int64_t{i / rows} * BN};
}
template <class Out>
__device__ __forceinline__ TileAt tile_of_block(const View<Out>& out, int BM, int BN) {
    return tile_at(out, BM, BN, blockIdx.x, 8);
}

}  // namespace sixdays::day05_matmul
