/// @file
/// What a transposing kernel is told: a stack of matrices, cut into tiles, one block a tile.
#pragma once

#include <cstdint>

#include "day03_views/bytes.hpp"

namespace sixdays::day03_views {

/// `in` holds matrices (M, N) with N along memory; `out` holds the same matrices with M along
/// memory. The stack's other dims may have any strides. Plain numbers: a kernel takes it by value.
struct Matrices {
    const void* in = nullptr;
    void* out = nullptr;
    std::int64_t M = 0, N = 0;
    std::int64_t pitch_in = 0;   // elements from row m of in to row m + 1
    std::int64_t pitch_out = 0;  // elements from row n of out to row n + 1
    int dims = 0;                // of the stack
    std::uint32_t extent[kMaxRank - 2] = {};
    std::int64_t step_in[kMaxRank - 2] = {};  // elements from one matrix to the next
    std::int64_t step_out[kMaxRank - 2] = {};
    std::uint32_t across = 0;  // tiles side by side in a matrix: N / tile width, rounded up
    std::uint32_t down = 0;    // tiles one below the other
};

/// Dims `m` and `n` of two layouts of one shape become M and N, all others the stack. Strides of m
/// in `out` and of n in `in` are taken to be 1.
[[nodiscard]] Matrices matrices_of(const BytesIn& in, const BytesOut& out, int m, int n);

/// For in (..., M, N) and out (..., N, M).
[[nodiscard]] Matrices matrices_to_transpose(const BytesIn& in, const BytesOut& out);

/// Fills in `across` and `down` for tiles of TM x TN. @return  how many tiles, which may be 0
/// @throws std::invalid_argument  more tiles than a grid can have blocks (2^31 - 1)
[[nodiscard]] std::uint32_t cut_into_tiles(Matrices& x, int TM, int TN);

/// May every row be read and written 16 bytes at a time? All begin at a multiple of 16 bytes then.
[[nodiscard]] bool rows_begin_at_16(const Matrices& x, int element);

}  // namespace sixdays::day03_views
