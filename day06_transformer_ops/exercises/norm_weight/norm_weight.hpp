/// @file
/// Exercise 10 of Day 06: the gradient of a norm's weight.
///
/// Easy, 20 minutes.
///
/// Layer norm makes z = (x - mean) * scale of each row and multiplies it by a weight, w(c) in
/// column c. In the backward pass (docs/training.md) `grad` says how the loss changes with each
/// output. w(c) is used by every row, so what comes back to it is a sum over all of them:
///
///     in (2, 2) = 1 3    mean, scale = 2 1    z = -1 1    grad = 10 20
///                 5 7                  6 1        -1 1           -3 -3
///     d_weight += 10 * -1 + -3 * -1,  20 * 1 + -3 * 1  =  -7, 17
///
/// The loop goes through the rows and adds each to all columns. A thread a row would do so, too;
/// but then many threads add to the same number at once, and some of it gets lost.
///
/// Write the kernel in my/day06_transformer_ops/norm_weight.cu, then `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// d_weight(c) += sum over m of grad(m, c) * (in(m, c) - rows(m, 0)) * rows(m, 1)
/// @param in        (M, C), contiguous
/// @param rows      (M, 2), contiguous: mean and scale of each row
/// @param grad      (M, C), contiguous
/// @param d_weight  (C), contiguous, read and written, apart from all others
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void norm_weight_cpu(View<const float> in, View<const float> rows, View<const float> grad,
                     View<float> d_weight);
void norm_weight_cuda(View<const float> in, View<const float> rows, View<const float> grad,
                      View<float> d_weight, gpu::Stream stream = {});
void check_norm_weight(const View<const float>& in, const View<const float>& rows,
                       const View<const float>& grad, const View<float>& d_weight);

}  // namespace sixdays::day06_transformer_ops
