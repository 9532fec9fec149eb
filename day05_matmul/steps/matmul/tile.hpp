/// @file
/// For .cu files: which tile of which matrix belongs to this block, and how an output is stored.
#pragma once

#include <cuda_runtime.h>

#include "day05_matmul/steps/matmul/problem.hpp"

namespace sixdays::day05_matmul {

/// One tile of outputs, and where its operands begin. 32-bit indices suffice within a tile.
struct Tile {
    const float* a;   // row m0
    const float* b;   // column n0
    float* out;       // (m0, n0)
    std::int64_t m0;  // for the bias
    std::int64_t n0;
    int rows;              // BM, fewer at the lower edge
    int columns;           // BN, fewer at the right edge
    int first_row = 0;     // earlier rows belong to another block (step 13)
    int first_column = 0;  // the same for columns
};

/// Moves the tile to its beginning in memory.
__device__ __forceinline__ Tile tile_at(const Problem& x, std::int64_t m0, std::int64_t n0,
                                        unsigned matrix, int BM, int BN) {
    std::int64_t a = m0 * x.a_m, b = n0 * x.b_n, out = m0 * x.out_m + n0 * x.out_n;
    for (int d = Problem::kMostDims - 1; d >= 0; --d) {
        if (d < x.dims) {
            const auto extent = static_cast<unsigned>(x.extent[d]);
            const unsigned i = d == 0 ? matrix : matrix % extent;
            matrix /= extent;
            a += i * x.step_a[d];
            b += i * x.step_b[d];
            out += i * x.step_out[d];
        }
    }
    return {x.a + a,
            x.b + b,
            x.out + out,
            m0,
            n0,
            static_cast<int>(x.M - m0 < BM ? x.M - m0 : BM),
            static_cast<int>(x.N - n0 < BN ? x.N - n0 : BN)};
}

/// The block index split into: tile across, tile down, matrix of the stack.
__device__ __forceinline__ Tile tile_of_block(const Problem& x, int BM, int BN) {
    const unsigned across = blockIdx.x % x.across, rest = blockIdx.x / x.across;
    return tile_at(x, std::int64_t{rest % x.down} * BM, std::int64_t{across} * BN, rest / x.down,
                   BM, BN);
}

/// Epilogue::operator() for output (m, n) of a tile; `old` is the previous
/// output.
__device__ __forceinline__ float finish(const Problem& x, const Tile& tile, int m, int n, float sum,
                                        const float& old) {
    float y = x.alpha * sum;
    if (x.beta != 0) y += x.beta * old;
    if (x.bias != nullptr) y += x.bias[(tile.m0 + m) * x.bias_m + (tile.n0 + n) * x.bias_n];
    if (x.swish) return y / (1 + std::exp(-y));
    return x.relu && y < 0 ? 0 : y;
}

__device__ __forceinline__ void store(const Problem& x, const Tile& tile, int m, int n, float sum) {
    float& to = tile.out[m * x.out_m + n * x.out_n];
    to = finish(x, tile, m, n, sum, to);
}

}  // namespace sixdays::day05_matmul
