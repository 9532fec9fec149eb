/// @file
/// For .cu files: quads of floats, also where a row ends within one.
#pragma once

#include <cuda_runtime.h>

#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {

/// Four neighbours of global memory, of which only the first `inside` exist; 0 for the others.
__device__ __forceinline__ float4 quad_at(const float* from, int inside) {
    if (inside >= 4) return *reinterpret_cast<const float4*>(from);
    return make_float4(inside > 0 ? from[0] : 0, inside > 1 ? from[1] : 0, inside > 2 ? from[2] : 0,
                       0);
}

/// Four neighbours into registers, at a multiple of 16 bytes.
__device__ __forceinline__ void load_quad(const float* from, float* to) {
    const float4 q = *reinterpret_cast<const float4*>(from);
    to[0] = q.x, to[1] = q.y, to[2] = q.z, to[3] = q.w;
}

__device__ __forceinline__ void quad_or_zeros(const float* from, bool inside, float (&to)[4]) {
    if (inside) return load_quad(from, to);
    to[0] = to[1] = to[2] = to[3] = 0;
}
__device__ __forceinline__ void store_quad(float* to, const float* four) {
    *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
}

// [store]
/// A thread's sums become outputs, those of them that are the tile's own: in rows m_of(i), in columns
/// n_of(j) and the three behind it, for j = 0, 4, 8, ... The epilogue goes over all sums for each thing
/// that is asked for, instead of over all things for each sum: so what nobody asks for is one question,
/// and its instructions are never fetched. Sum by sum, 128 sums took 150 KB of them.
template <int TM, int TN, class RowOf, class ColumnOf>
__device__ __forceinline__ void store_all(const Problem& x, const Tile& tile, float (&sum)[TM][TN],
                                          const RowOf& m_of, const ColumnOf& n_of) {
    const auto each_four = [&](const auto& f) {  // f(m, n, four sums, are they one quad of out?)
#pragma unroll
        for (int i = 0; i < TM; ++i) {
            const int m = m_of(i);
            if (m < tile.first_row || m >= tile.rows) continue;
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                const int n = n_of(j);
                f(m, n, sum[i] + j, x.quads_out && n >= tile.first_column && n + 3 < tile.columns);
            }
        }
    };
    const auto own = [&](int n) { return n >= tile.first_column && n < tile.columns; };
    if (x.alpha != 1) {
        each_four([&](int, int, float* four, bool) {
            for (int j = 0; j < 4; ++j) four[j] *= x.alpha;
        });
    }
    if (x.beta != 0) {
        each_four([&](int m, int n, float* four, bool quad) {
            const float* const old = tile.out + m * x.out_m + n * x.out_n;
            float y[4] = {};
            if (quad) load_quad(old, y);
            for (int j = 0; j < 4; ++j) {
                if (!quad && own(n + j)) y[j] = old[j * x.out_n];
                four[j] += x.beta * y[j];
            }
        });
    }
    if (x.bias != nullptr) {
        each_four([&](int m, int n, float* four, bool) {
            const float* const bias = x.bias + (tile.m0 + m) * x.bias_m;
            for (int j = 0; j < 4; ++j) {
                if (own(n + j)) four[j] += bias[(tile.n0 + n + j) * x.bias_n];
            }
        });
    }
    if (x.relu) {
        each_four([&](int, int, float* four, bool) {
            for (int j = 0; j < 4; ++j) four[j] = four[j] < 0 ? 0 : four[j];
        });
    }
    // Most threads have no edge in their part of the tile, and ask only once.
    if (x.quads_out && m_of(0) >= tile.first_row && m_of(TM - 1) < tile.rows &&
        n_of(0) >= tile.first_column && n_of(TN - 4) + 3 < tile.columns) {
#pragma unroll
        for (int i = 0; i < TM; ++i) {
            float* const row = tile.out + m_of(i) * x.out_m;
#pragma unroll
            for (int j = 0; j < TN; j += 4) store_quad(row + n_of(j), sum[i] + j);
        }
        return;
    }
    each_four([&](int m, int n, const float* four, bool quad) {
        float* const to = tile.out + m * x.out_m + n * x.out_n;
        if (quad) store_quad(to, four);
        for (int j = 0; j < 4; ++j) {
            if (!quad && own(n + j)) to[j * x.out_n] = four[j];
        }
    });
}
// [store]

}  // namespace sixdays::day05_matmul
