/// @file
/// Exercise 11 of Day 06: normalize every row with a tile kernel.
///
/// Easy, 40 minutes.
///
/// Page: docs/day06_transformer_ops_fast.md
///
/// The first three sections of docs/tile.md and its section *Padding* introduce everything that
/// this exercise needs.
///
/// Subtract each row's mean and divide by its standard deviation, so that the mean becomes 0 and
/// the variance 1 (layer norm without weights):
///
///     in (1, 4) = 1 2 3 6    mean 3    left -2 -1 0 3    variance 14 / 4, its root 1.871
///                                                        out = -1.069 -0.535 0 1.604
///
/// Use one block per row, with the row as one tile of 1 x 128. A row may be shorter: load_masked
/// pads it with 0. Consider what those padding lanes hold after you have subtracted something.
///
/// Write the kernel in my/day06_transformer_ops/norm_rows_tile.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(m, n) = (in(m, n) - mean) / sqrt(variance + 1e-5): mean and variance of the N numbers of row
/// m, the variance being the mean of (in(m, n) - mean)^2.
/// @param in   (M, N), contiguous, N at most 128
/// @param out  (M, N), contiguous, not overlapping `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void norm_rows_tile_cpu(View<const float> in, View<float> out);
void norm_rows_tile_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_norm_rows_tile(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
