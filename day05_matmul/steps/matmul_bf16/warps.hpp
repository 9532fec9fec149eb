/// @file
/// For .cu files: what steps 3 and 4 share. A block makes BM x BN outputs with eight warps, two
/// down and four across; a tile has 64 of k.
#pragma once

#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul_bf16/fragment.hpp"
#include "day05_matmul/steps/matmul_bf16/panel.hpp"

namespace sixdays::day05_matmul {

inline constexpr int kDepth = 64;  // k's in a tile

template <int BM, int BN>
struct Warps {
    static constexpr int kThreads = 256;
    static constexpr int kRows = BM / 2, kColumns = BN / 4;           // a warp's outputs
    static constexpr int kDown = kRows / 16, kAcross = kColumns / 8;  // the same in fragments

    int m, n;  // where this warp's outputs begin in the block's
    float sum[kDown][kAcross][4] = {};

    __device__ __forceinline__ Warps() {
        const int warp = static_cast<int>(threadIdx.x / 32);
        m = warp / 4 * kRows;
        n = warp % 4 * kColumns;
    }

    // [multiply]
    /// Adds what 16 of k make: each fragment of a meets each of b.
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
    /// @param load_fragments_b  (to, k, n): two of them, side by side
    template <class T, class A, class B>
    __device__ __forceinline__ void multiply(const A& load_fragment_a, const B& load_fragments_b) {
#pragma unroll
        for (int k = 0; k < kDepth; k += 16) {
            std::uint32_t a[kDown][4], b[kAcross / 2][2][2];
            for (int i = 0; i < kDown; ++i) load_fragment_a(a[i], m + 16 * i, k);
            for (int j = 0; j < kAcross / 2; ++j) load_fragments_b(b[j], k, n + 16 * j);
            add<T>(a, b);
        }
    }
    // [multiply]

    // [store]
    /// @param m0, n0  where the block's outputs begin
    __device__ __forceinline__ void store(const Epilogue& epilogue, const View<float>& out,
                                          std::int64_t m0, std::int64_t n0) const {
        const bool inside = m0 + BM <= out.extent(0) && n0 + BN <= out.extent(1);
        if (inside && epilogue.beta == 0 && lies_in_pairs(out)) {
            return store_pairs(epilogue, out, m0, n0);
        }
        const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const std::int64_t row = m0 + m + 16 * i + row_of_sum(lane, e);
                    const std::int64_t column = n0 + n + 8 * j + column_of_sum(lane, e);
                    if (row < out.extent(0) && column < out.extent(1)) {
                        float& to = out(row, column);
                        to = epilogue(sum[i][j][e], column, to);
                    }
                }
            }
        }
    }
    // [store]

    static __device__ __forceinline__ bool lies_in_pairs(const View<float>& out) {
        return out.stride(1) == 1 && out.stride(0) % 2 == 0 &&
               reinterpret_cast<std::uintptr_t>(out.data) % 8 == 0;
    }

    // [pairs]
    /// The same of outputs that are all there, and are not read: two neighbours at a time, and no more
    /// for each than its arithmetic. The kernel's last thousand instructions are executed once, and
    /// each has to be fetched.
    __device__ __forceinline__ void store_pairs(const Epilogue& epilogue, const View<float>& out,
                                                std::int64_t m0, std::int64_t n0) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const std::int64_t row = m0 + m + row_of_sum(lane, 0);
        const std::int64_t column = n0 + n + column_of_sum(lane, 0);
        const bool with_bias = epilogue.bias.data != nullptr;
        float bias[kAcross][2] = {};
        for (int j = 0; j < kAcross && with_bias; ++j) {
            for (int e = 0; e < 2; ++e) bias[j][e] = epilogue.bias(column + 8 * j + e);
        }
        const auto finish = [&](float x, float add) {
            x *= epilogue.alpha;
            if (with_bias) x += add;
            return epilogue.relu && x < 0 ? 0 : x;
        };
        float* to = &out(row, column);
#pragma unroll
        for (int i = 0; i < 2 * kDown; ++i) {  // eight rows below the last ones
            const int first = i % 2 * 2;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const float(&s)[4] = sum[i / 2][j];
                *reinterpret_cast<float2*>(to + 8 * j) =
                    make_float2(finish(s[first], bias[j][0]), finish(s[first + 1], bias[j][1]));
            }
            to += 8 * out.stride(0);
        }
    }
    // [pairs]
};

/// A block for each BM x BN outputs.
inline unsigned blocks_for_tiles(const View<float>& out, int BM, int BN) {
    return gpu::blocks_for((out.extent(0) + BM - 1) / BM * ((out.extent(1) + BN - 1) / BN), 1);
}

// [order]
/// Which tile is this block's? Blocks that run together should want the same tiles of a and b,
/// while these are in the L2 cache: so eight tiles down are walked column by column, then the next
/// eight.
struct TileAt {
    std::int64_t m0, n0;
};
__device__ __forceinline__ TileAt tile_of_block(const View<float>& out, int BM, int BN) {
    const auto down = static_cast<unsigned>((out.extent(0) + BM - 1) / BM);
    const auto across = static_cast<unsigned>((out.extent(1) + BN - 1) / BN);
    const unsigned first = blockIdx.x / (8 * across) * 8, i = blockIdx.x % (8 * across);
    const unsigned rows = down - first < 8 ? down - first : 8;
    return {std::int64_t{first + i % rows} * BM, std::int64_t{i / rows} * BN};
}
// [order]

}  // namespace sixdays::day05_matmul
