/// @file
/// Exercise 9 of Day 06: norm every row, a tile a row.
///
/// Easy, 40 minutes.
///
/// The words that it takes are in docs/tile.md: its first three sections and *Padding*.
///
/// Of every row its mean is taken away, and what is left is divided by its own size, so that the
/// mean becomes 0 and the mean of the squares 1 (layer norm without weights):
///
///     in (1, 4) = 1 2 3 6    mean 3    left -2 -1 0 3    variance 14 / 4, its root 1.871
///                                                        out = -1.069 -0.535 0 1.604
///
/// A block takes a row, as one tile of 1 x 128. A row may be shorter: load_masked puts 0 behind its
/// end. Mind what those lanes hold when you have subtracted something.
///
/// Write the kernel in my/day06_transformer_ops/norm_rows_tile.cu, then `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(m, n) = (in(m, n) - mean) / sqrt(variance + 1e-5): mean and variance of the N numbers of row
/// m, the variance being the mean of (in(m, n) - mean)^2.
/// @param in   (M, N), contiguous, N at most 128
/// @param out  (M, N), contiguous, apart from `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void norm_rows_tile_cpu(View<const float> in, View<float> out);
void norm_rows_tile_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_norm_rows_tile(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
