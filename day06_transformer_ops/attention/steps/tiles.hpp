/// @file
/// What the tiled kernels of attention share, forward and backward: the shape of a block, the copy
/// of a tile, and the product of two tiles in registers.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/ptx.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"

namespace sixdays::day06_transformer_ops {

inline constexpr int kTile = 64;  // keys per tile
inline constexpr int kDown = 16;  // rows of threads

/// A block: ACROSS threads share a query. Thread (y, x) has queries y, y + 16,
/// ...; of each tile, their scores with keys x, x + ACROSS, ...; and OUT elements
/// of each output. EACH: elements per copy; 1 if rows are not made of vectors.
template <int HEAD_, int ROWS_, int EACH_, int TILE_ = kTile>
struct Block {
    static constexpr int HEAD = HEAD_, ROWS = ROWS_, EACH = EACH_, TILE = TILE_;
    static constexpr int ACROSS = HEAD > 64 ? 16 : 8, KEYS = TILE / ACROSS;
    static constexpr int OUT = HEAD / ACROSS;
    static constexpr int THREADS = kDown * ACROSS, QUERIES = kDown * ROWS;
    // Padded: rows of a tile begin in different banks.
    static constexpr int PITCH = HEAD + 4, PITCH_WEIGHTS = TILE + ACROSS;
    static constexpr std::size_t kBytes = attention_tiles_bytes(HEAD, QUERIES);
};

/// Starts to copy rows of `from`, from row `first` on. Rows from n on and columns
/// from D on are filled with 0.
template <class S>
__device__ void copy_tile(float* tile, int rows, const Table& from, std::int64_t first,
                          std::int64_t n, int D) {
    constexpr int kOfRow = S::HEAD / S::EACH, kBytes = 4 * S::EACH;
#pragma unroll 8
    for (int i = threadIdx.x; i < rows * kOfRow; i += S::THREADS) {
        const int s = i / kOfRow, d = i % kOfRow * S::EACH;
        const bool is_there = first + s < n && d < D;
        gpu::copy_async<kBytes>(tile + s * S::PITCH + d, &from(first + s, d),
                                is_there ? kBytes : 0);
    }
    gpu::copy_async_commit();
}

__device__ __forceinline__ void read_vector(float* to, const float* from) {
    const float4 x = *reinterpret_cast<const float4*>(from);
    to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}

// [scores]
template <class S>
__device__ __forceinline__ void make_scores(float (&score)[S::ROWS][S::KEYS], const float* queries,
                                            const float* keys) {
#pragma unroll 2
    for (int d = 0; d < S::HEAD; d += 4) {
        float q[4], k[S::KEYS][4];
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            read_vector(k[j], keys + j * S::ACROSS * S::PITCH + d);
        }
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
            read_vector(q, queries + i * kDown * S::PITCH + d);
#pragma unroll
            for (int j = 0; j < S::KEYS; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) score[i][j] += q[e] * k[j][e];
            }
        }
    }
}
// [scores]

}  // namespace sixdays::day06_transformer_ops
