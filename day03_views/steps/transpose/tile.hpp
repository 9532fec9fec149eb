/// @file
/// For .cu files: the tile and the matrix of this block.
#pragma once

#include <cuda_runtime.h>

#include "day03_views/steps/transpose/matrices.hpp"

namespace sixdays::day03_views {

/// One tile: a small matrix, at most TM x TN. Inside it, 32-bit indices are enough.
template <class T>
struct Tile {
    const T* in;  // its first element in `in`; rows are pitch_in apart
    T* out;       // and in `out`; rows are pitch_out apart
    int rows;     // of `in`; fewer than TM at the lower edge
    int columns;  // fewer than TN at the right edge
};

/// Splits the block index into: tile down, tile across, then one index per dimension of the stack.
/// Down varies fastest: blocks with neighbouring indices run at the same time and so write
/// neighbouring parts of the same rows of `out`.
template <class T>
__device__ Tile<T> tile_of_block(const Matrices& x, int TM, int TN) {
    unsigned b = blockIdx.x;
    const std::int64_t m = std::int64_t{b % x.down} * TM;
    b /= x.down;
    const std::int64_t n = std::int64_t{b % x.across} * TN;
    b /= x.across;
    std::int64_t from = m * x.pitch_in + n, to = n * x.pitch_out + m;
    for (int d = kMaxRank - 3; d >= 0; --d) {
        if (d < x.dims) {
            const unsigned i = d == 0 ? b : b % x.extent[d];
            if (d > 0) b /= x.extent[d];
            from += i * x.step_in[d];
            to += i * x.step_out[d];
        }
    }
    return {static_cast<const T*>(x.in) + from, static_cast<T*>(x.out) + to,
            static_cast<int>(x.M - m < TM ? x.M - m : TM),
            static_cast<int>(x.N - n < TN ? x.N - n : TN)};
}

}  // namespace sixdays::day03_views
