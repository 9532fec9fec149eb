/// @file
/// What a transformer spends its time on, fast on a CPU. The product, straight from the file's
/// weights: out(t, n) = sum over k of x(t, k) * weight(n, k).
///
/// One token is limited by memory: every weight is fetched for one multiply-add. A prompt is limited
/// by arithmetic: the tokens share each weight that was fetched. So there is a loop for either.
#pragma once

#include <cstdint>

#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/weight.hpp"

namespace sixdays::gpt2 {

/// Weights of any type; a thread of its own gives rows(weight, ...) and those columns of out.
/// Error: K + 1 roundings of the sum of |x(t, k) * weight(n, k)|.
/// @param weight  (N, K)
/// @param x       (T, K), contiguous
/// @param out     (T, N), columns side by side, rows of any stride; apart from x
/// @throws std::invalid_argument  shapes that do not fit, gaps, a null pointer, overlap
void linear_fast_cpu(const Weight& weight, View<const float> x, View<float> out);
void check_linear_fast(const Weight& weight, const View<const float>& x, const View<float>& out);

/// What one query gets from the n positions that it sees: attention_cpu() of one row, in sums side by
/// side.
/// @param q, out        (D), contiguous
/// @param keys, values  (n, D), n at least 1, a row's elements side by side
/// @param scores        room for n
/// @throws std::invalid_argument  shapes that do not fit, gaps, a null pointer, overlap
void attend_fast_cpu(View<const float> q, View<const float> keys, View<const float> values,
                     float* scores, View<float> out);
void check_attend_fast(const View<const float>& q, const View<const float>& keys,
                       const View<const float>& values, const View<float>& out);

}  // namespace sixdays::gpt2
