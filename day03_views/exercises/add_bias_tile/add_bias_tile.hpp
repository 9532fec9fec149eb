/// @file
/// Exercise 7 of Day 03: add a row to every row of a matrix, in tiles.
///
/// Easy, 20 minutes.
///
/// The words that it takes are in docs/tile.md, its first three sections.
///
///     in (2, 3) = 10 20 30      bias (3) = 1 2 3      out (2, 3) = 11 22 33
///                 40 50 60                                         41 52 63
///
/// The matrix is cut into tiles of 8 x 32, and a block takes one of them. It loads the tile and the
/// piece of the bias that belongs to its columns, a tile of 1 x 32, adds and stores. `+` of two
/// tiles repeats a dim of length 1, as a broadcast does. No size need be a multiple of a tile's,
/// and rows of `in` may lie farther apart than they are long. A grid's x counts far enough for any
/// number of rows. Its y ends at 65,535, so there are at most 32 times as many columns.
///
/// Write the kernel and its grid in my/day03_views/add_bias_tile.cu, then `common/learn check
/// day03`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Tiles of 32 columns, as many as a grid's y can count.
inline constexpr std::int64_t kMostColumns = 32 * std::int64_t{65535};

/// out(m, n) = in(m, n) + bias(n)
/// @param in    (M, N), rows of stride 1, any pitch that is not negative; N at most 2,097,120
/// @param bias  (N), contiguous
/// @param out   (M, N), contiguous, apart from both
/// @throws std::invalid_argument  other shapes or strides, more columns, a null pointer, overlap
void add_bias_tile_cpu(View<const float> in, View<const float> bias, View<float> out);
void add_bias_tile_cuda(View<const float> in, View<const float> bias, View<float> out,
                        gpu::Stream stream = {});
void check_add_bias_tile(const View<const float>& in, const View<const float>& bias,
                         const View<float>& out);

}  // namespace sixdays::day03_views
