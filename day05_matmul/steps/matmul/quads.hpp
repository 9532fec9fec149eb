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

/// Outputs (m, n) to (m, n + 3), those of them that are the tile's own.
__device__ __forceinline__ void store_four(const Problem& x, const Tile& tile, int m, int n,
                                           const float* sum) {
    if (m < tile.first_row || m >= tile.rows) return;
    if (x.quads_out && n >= tile.first_column && n + 3 < tile.columns) {
        float* const to = tile.out + m * x.out_m + n;
        float y[4] = {};
        if (x.beta != 0) load_quad(to, y);
#pragma unroll
        for (int j = 0; j < 4; ++j) y[j] = finish(x, tile, m, n + j, sum[j], y[j]);
        *reinterpret_cast<float4*>(to) = make_float4(y[0], y[1], y[2], y[3]);
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (n + j >= tile.first_column && n + j < tile.columns) store(x, tile, m, n + j, sum[j]);
    }
}

}  // namespace sixdays::day05_matmul
