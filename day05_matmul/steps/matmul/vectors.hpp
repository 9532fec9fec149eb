/// @file
/// For .cu files: float4 accesses, also where a row ends within one.
#pragma once

#include <cuda_runtime.h>

#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {

/// Four adjacent elements of global memory, of which only the first `inside` exist; 0 for the
/// others.
__device__ __forceinline__ float4 vector_at(const float* from, int inside) {
    if (inside >= 4) return *reinterpret_cast<const float4*>(from);
    return make_float4(inside > 0 ? from[0] : 0, inside > 1 ? from[1] : 0, inside > 2 ? from[2] : 0,
                       0);
}

/// Loads four adjacent elements, at a multiple of 16 bytes, into registers.
__device__ __forceinline__ void load_vector(const float* from, float* to) {
    const float4 q = *reinterpret_cast<const float4*>(from);
    to[0] = q.x, to[1] = q.y, to[2] = q.z, to[3] = q.w;
}

__device__ __forceinline__ void store_vector(float* to, const float* four) {
    *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
}

/// Stores outputs (m, n) to (m, n + 3), those of them that belong to the tile.
__device__ __forceinline__ void store_four(const Problem& x, const Tile& tile, int m, int n,
                                           const float* sum) {
    if (m < tile.first_row || m >= tile.rows) return;
    if (x.vectors_out && n >= tile.first_column && n + 3 < tile.columns) {
        float* const to = tile.out + m * x.out_m + n;
        float y[4] = {};
        if (x.beta != 0) load_vector(to, y);
#pragma unroll
        for (int j = 0; j < 4; ++j) y[j] = finish(x, tile, m, n + j, sum[j], y[j]);
        return store_vector(to, y);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (n + j >= tile.first_column && n + j < tile.columns) store(x, tile, m, n + j, sum[j]);
    }
}

/// Stores a thread's sums as outputs: in rows m_of(i), and in columns n_of(j) to n_of(j) + 3, for j
/// = 0, 4, 8, ... Most threads have no edge in their part, no old output to read and no exp. They
/// make one pass over all sums for each part of the epilogue that is used, and an unused part costs
/// a single branch. The other threads put their sums into local memory, where a short loop handles
/// them one by one. Unrolled for each sum, with all branches, this was 150 KB of instructions, and
/// fetching them took longer than a hundred k's.
template <int TM, int TN, class RowOf, class ColumnOf>
__device__ __forceinline__ void store_all(const Problem& x, const Tile& tile, float (&sum)[TM][TN],
                                          const RowOf& m_of, const ColumnOf& n_of) {
    if (x.out_n != 1 || x.beta != 0 || x.bias_m != 0 || x.swish || m_of(0) < tile.first_row ||
        m_of(TM - 1) >= tile.rows || n_of(0) < tile.first_column ||
        n_of(TN - 4) + 3 >= tile.columns) {
        float all[TM][TN];
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
            for (int j = 0; j < TN; ++j) all[i][j] = sum[i][j];
        }
#pragma unroll 1
        for (int i = 0; i < TM; ++i) {
#pragma unroll 1
            for (int j = 0; j < TN; j += 4) store_four(x, tile, m_of(i), n_of(j), all[i] + j);
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < TN; ++j) {
        if (x.alpha != 1) {
#pragma unroll
            for (int i = 0; i < TM; ++i) sum[i][j] *= x.alpha;
        }
        if (x.bias != nullptr) {
            const float y = x.bias[(tile.n0 + n_of(j / 4 * 4) + j % 4) * x.bias_n];
#pragma unroll
            for (int i = 0; i < TM; ++i) sum[i][j] += y;
        }
        if (x.relu) {
#pragma unroll
            for (int i = 0; i < TM; ++i) sum[i][j] = sum[i][j] < 0 ? 0 : sum[i][j];
        }
    }
    const auto each_four = [&](const auto& keep) {
#pragma unroll
        for (int i = 0; i < TM; ++i) {
            float* const row = tile.out + m_of(i) * x.out_m;
#pragma unroll
            for (int j = 0; j < TN; j += 4) keep(row + n_of(j), sum[i] + j);
        }
    };
    if (x.vectors_out) return each_four(store_vector);
    each_four([](float* to, const float* four) {
        for (int j = 0; j < 4; ++j) to[j] = four[j];
    });
}

}  // namespace sixdays::day05_matmul
