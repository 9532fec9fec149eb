/// @file
/// Exercise 10 of Day 06: causal attention without storing the scores.
///
/// Hard, 60 minutes.
///
/// Page: docs/day06_transformer_ops_fast.md
///
/// Token t attends to tokens 0 .. t. The CPU reference first computes all its scores, then their
/// maximum, then the attention weights, and then the weighted sum of the values: it has to store a
/// row of scores. Online softmax stores none. Key after key, m is the largest score so far, sum is
/// the sum of exp(score - m), and x(d) is the sum of exp(score - m) * v(s, d). When a larger score
/// arrives, m grows, and the earlier terms are too large. Multiply sum and x by exp(old m - new m)
/// to correct them.
///
///     scores 0, log 3     values 4, 8
///     m = 0               sum = 1                  x = 4
///     m = log 3           sum = 1/3 + 1 = 4/3      x = 4/3 + 8 = 28/3         x / sum = 7
///
/// This is 4 * 1/4 + 8 * 3/4. Use one warp per query. Lane d holds q(t, d) and x(d), so a head has
/// at most 32 channels. The score of a key is a sum over d, and therefore over the lanes:
///
///     gpu::warp_reduce(mine, gpu::Plus())      the sum of `mine` over all lanes, in each lane
///
/// Write the kernel in my/day06_transformer_ops/causal_row.cu, then run `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// out(t, d) = sum over s <= t of weight(t, s) * v(s, d), where weight(t, :) is the softmax over
/// s <= t of score(t, s) = sum over d of q(t, d) * k(s, d) / sqrt(D). Keys and values of later
/// tokens, s > t, are not read.
/// @param q, k, v  (T, D), any strides, D at most 32: one head, a slice as heads_of() returns
/// @param out      (T, D), any strides, injective
/// @throws std::invalid_argument  other shapes, D not 1 to 32, out not injective, a null pointer,
/// out overlaps an input
void causal_row_cpu(View<const float> q, View<const float> k, View<const float> v, View<float> out);
void causal_row_cuda(View<const float> q, View<const float> k, View<const float> v, View<float> out,
                     gpu::Stream stream = {});
void check_causal_row(const View<const float>& q, const View<const float>& k,
                      const View<const float>& v, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
