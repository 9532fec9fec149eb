/// @file
/// Exercise 13 of Day 06: softmax's backward pass.
///
/// Medium, 30 minutes.
///
/// Page: docs/training.md
///
/// p is a row of probabilities, the softmax of some scores x. `grad` is the gradient of the loss
/// with respect to p. Compute the gradient with respect to x. When one score grows, all other
/// probabilities shrink, so each score affects the whole row. The derivative of p(j) with respect
/// to x(i) is p(j) * ([i = j] - p(i)), and
///
///     d_in(i) = sum over j of grad(j) * p(j) * ([i = j] - p(i))    [i = j]: 1 if the same, else 0
///
///     p (1, 2) = 0.25 0.75     grad = 8 4
///     d_in(0) = 8 * 0.25 * 0.75 - 4 * 0.75 * 0.25 =  0.75
///     d_in(1) = 4 * 0.75 * 0.25 - 8 * 0.25 * 0.75 = -0.75
///
/// The CPU reference evaluates this directly, with N * N steps for a row of N. Your kernel may read
/// every element of p and of grad at most twice. So start on paper: which part of this sum depends
/// on i?
///
/// Write the kernel in my/day06_transformer_ops/softmax_back.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// d_in(m, i) = sum over j of grad(m, j) * p(m, j) * ([i = j] - p(m, i)). A row that holds a NaN
/// becomes NaN; other rows are unaffected.
/// @param p     (M, N), contiguous: probabilities, each row adds up to 1
/// @param grad  (M, N), contiguous
/// @param d_in  (M, N), contiguous, overlapping no input
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void softmax_back_cpu(View<const float> p, View<const float> grad, View<float> d_in);
void softmax_back_cuda(View<const float> p, View<const float> grad, View<float> d_in,
                       gpu::Stream stream = {});
void check_softmax_back(const View<const float>& p, const View<const float>& grad,
                        const View<float>& d_in);

}  // namespace sixdays::day06_transformer_ops
