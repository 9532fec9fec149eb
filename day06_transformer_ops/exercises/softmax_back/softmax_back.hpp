/// @file
/// Exercise 11 of Day 06: softmax's backward pass, by rows.
///
/// Medium, 30 minutes.
///
/// p is a row of shares, made by softmax of some scores x. `grad` says how the loss changes with
/// each share; wanted is how it changes with each score. A score that grows takes from all other
/// shares, so each score reaches the whole row: the slope of p(j) along x(i) is
/// p(j) * ([i = j] - p(i)), and
///
///     d_in(i) = sum over j of grad(j) * p(j) * ([i = j] - p(i))    [i = j]: 1 if the same, else 0
///
///     p (1, 2) = 0.25 0.75     grad = 8 4
///     d_in(0) = 8 * 0.25 * 0.75 - 4 * 0.75 * 0.25 =  0.75
///     d_in(1) = 4 * 0.75 * 0.25 - 8 * 0.25 * 0.75 = -0.75
///
/// The loop does just that, N * N steps for a row of N. Your kernel may not: every number of p and
/// of grad is read twice at most. So take a pencil first: what in this sum depends on i?
///
/// Write the kernel in my/day06_transformer_ops/softmax_back.cu, then `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// d_in(m, i) = sum over j of grad(m, j) * p(m, j) * ([i = j] - p(m, i)). A row that holds a NaN
/// becomes NaN; other rows do not notice.
/// @param p     (M, N), contiguous: shares, each row adds up to 1
/// @param grad  (M, N), contiguous
/// @param d_in  (M, N), contiguous, apart from the others
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void softmax_back_cpu(View<const float> p, View<const float> grad, View<float> d_in);
void softmax_back_cuda(View<const float> p, View<const float> grad, View<float> d_in,
                       gpu::Stream stream = {});
void check_softmax_back(const View<const float>& p, const View<const float>& grad,
                        const View<float>& d_in);

}  // namespace sixdays::day06_transformer_ops
