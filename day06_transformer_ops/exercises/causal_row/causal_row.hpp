/// @file
/// Exercise 8 of Day 06: attention whose scores are never stored.
///
/// Hard, 60 minutes.
///
/// Token t asks tokens 0 .. t. The loop first makes all its scores, then finds the largest, then
/// the shares, then adds up the values: a row of scores has to be kept. With a running maximum
/// nothing is: key after key, m is the largest score so far, sum the sum of exp(score - m), x(d)
/// the sum of exp(score - m) * v(s, d). When a larger score comes, what was added so far was too
/// large, and is corrected: sum and x are multiplied by exp(old m - new m).
///
///     scores 0, log 3     values 4, 8
///     m = 0               sum = 1                  x = 4
///     m = log 3           sum = 1/3 + 1 = 4/3      x = 4/3 + 8 = 28/3         x / sum = 7
///
/// which is 4 * 1/4 + 8 * 3/4. A warp takes a query, and lane d has q(t, d) and x(d): a head of 32
/// numbers at most. The score of a key is a sum over d, so over the lanes:
///
///     gpu::warp_reduce(mine, gpu::Plus())      the sum of `mine` over all lanes, in each lane
///
/// Write the kernel in my/day06_transformer_ops/causal_row.cu, then `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(t, d) = sum over s <= t of share(t, s) * v(s, d), where share(t, :) is the softmax over
/// s <= t of score(t, s) = sum over d of q(t, d) * k(s, d) / sqrt(D). What lies ahead of t is not
/// read.
/// @param q, k, v  (T, D), any strides, D at most 32: one head, as heads_of() cuts it out
/// @param out      (T, D), any strides, injective
/// @throws std::invalid_argument  other shapes, D not 1 to 32, out not injective, a null pointer,
/// out overlaps an input
void causal_row_cpu(View<const float> q, View<const float> k, View<const float> v, View<float> out);
void causal_row_cuda(View<const float> q, View<const float> k, View<const float> v, View<float> out,
                     gpu::Stream stream = {});
void check_causal_row(const View<const float>& q, const View<const float>& k,
                      const View<const float>& v, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
