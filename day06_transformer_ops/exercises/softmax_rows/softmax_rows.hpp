/// @file
/// Exercise 6 of Day 06: softmax of every row, by a warp.
///
/// Easy, 20 minutes.
///
/// A row of scores becomes a row of shares that add up to 1:
///
///     in (2, 3) =  0  log 2  log 5     exp of row 0 is 1 2 5, of 8    out = 0.125  0.25   0.625
///                  7  7      7                                              0.333  0.333  0.333
///
/// First the largest element m of the row, then the sum of all exp(x - m), then each exp(x - m)
/// over that sum. The loop does it in three passes; so does a warp, whose 32 lanes take every 32nd
/// element of its row and combine what they have found:
///
///     gpu::warp_reduce(mine, gpu::Larger())    the largest `mine` of all lanes, in each lane
///     gpu::warp_reduce(mine, gpu::Plus())      their sum, likewise
///
/// All 32 lanes must come to these, also those without an element. Each element of out is written
/// once and not read, so exp(x - m) is asked twice.
///
/// Write the kernel in my/day06_transformer_ops/softmax_rows.cu, then `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(m, n) = exp(in(m, n) - largest) / sum over n of exp(in(m, n) - largest), largest and sum of
/// row m. A row that holds a NaN becomes NaN; other rows do not notice.
/// @param in   (M, N), contiguous
/// @param out  (M, N), contiguous, apart from `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void softmax_rows_cpu(View<const float> in, View<float> out);
void softmax_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_softmax_rows(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
