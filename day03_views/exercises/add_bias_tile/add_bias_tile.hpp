/// @file
/// Exercise 7 of Day 03: add a bias to every row with a tile kernel.
///
/// Easy, 20 minutes.
///
/// The first three sections of docs/tile.md introduce everything that this exercise needs.
///
///     in (2, 3) = 10 20 30      bias (3) = 1 2 3      out (2, 3) = 11 22 33
///                 40 50 60                                         41 52 63
///
/// The matrix is cut into tiles of 8 x 32, with one block per tile. Each block loads its tile and
/// the part of the bias that belongs to its columns, a tile of 1 x 32. It adds the two and stores
/// the sum. `+` of two tiles broadcasts a dimension of extent 1. Extents need not be multiples of
/// the tile's, and rows of `in` may have a pitch. Rows go to x of the grid, which is large enough
/// for any number of rows. Columns go to y, which ends at 65,535: out has at most 65,535 * 32
/// columns.
///
/// Write the kernel and its grid in my/day03_views/add_bias_tile.cu, then run
/// `common/learn check day03`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// Columns covered by 65,535 tiles of 32, the limit of a grid's y.
inline constexpr std::int64_t kMostColumns = 32 * std::int64_t{65535};

/// out(m, n) = in(m, n) + bias(n)
/// @param in    (M, N), rows of stride 1, any pitch that is not negative; N at most 2,097,120
/// @param bias  (N), contiguous
/// @param out   (M, N), contiguous, overlapping neither
/// @throws std::invalid_argument  wrong shapes or strides, too many columns, null pointer, overlap
void add_bias_tile_cpu(View<const float> in, View<const float> bias, View<float> out);
void add_bias_tile_cuda(View<const float> in, View<const float> bias, View<float> out,
                        gpu::Stream stream = {});
void check_add_bias_tile(const View<const float>& in, const View<const float>& bias,
                         const View<float>& out);

}  // namespace sixdays::day03_views
