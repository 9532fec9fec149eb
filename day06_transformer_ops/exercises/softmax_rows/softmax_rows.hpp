/// @file
/// Exercise 9 of Day 06: softmax, one warp per row.
///
/// Easy, 20 minutes.
///
/// Page: docs/day06_transformer_ops_fast.md
///
/// Turn a row of scores into attention weights that add up to 1:
///
///     in (2, 3) =  0  log 2  log 5     exp of row 0 is 1 2 5, of 8    out = 0.125  0.25   0.625
///                  7  7      7                                              0.333  0.333  0.333
///
/// First find the largest element m of the row, then the sum of all exp(x - m), then divide each
/// exp(x - m) by that sum. The CPU reference does this in three passes, and so does a warp. Each of
/// its 32 lanes processes every 32nd element of the row, and the lanes then combine their results:
///
///     gpu::warp_reduce(mine, gpu::Larger())    the largest `mine` of all lanes, in each lane
///     gpu::warp_reduce(mine, gpu::Plus())      their sum, likewise
///
/// All 32 lanes must execute these, including lanes without an element. Write each element of out
/// once and do not read it back, so compute exp(x - m) twice.
///
/// Write the kernel in my/day06_transformer_ops/softmax_rows.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(m, n) = exp(in(m, n) - largest) / sum over n of exp(in(m, n) - largest), largest and sum of
/// row m. A row that holds a NaN becomes NaN; other rows are unaffected.
/// @param in   (M, N), contiguous
/// @param out  (M, N), contiguous, not overlapping `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void softmax_rows_cpu(View<const float> in, View<float> out);
void softmax_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_softmax_rows(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
