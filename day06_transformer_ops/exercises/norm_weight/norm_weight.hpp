/// @file
/// Exercise 12 of Day 06: the gradient of layer norm's weight.
///
/// Easy, 20 minutes.
///
/// Page: docs/training.md
///
/// Layer norm computes z = (x - mean) * scale for each row and multiplies it by a weight, w(c) in
/// column c. In the backward pass (docs/training.md), `grad` is the gradient of the loss with
/// respect to each output. Every row uses w(c), so the gradient of w(c) is a sum over all rows:
///
///     in (2, 2) = 1 3    mean, scale = 2 1    z = -1 1    grad = 10 20
///                 5 7                  6 1        -1 1           -3 -3
///     d_weight += 10 * -1 + -3 * -1,  20 * 1 + -3 * 1  =  -7, 17
///
/// The CPU reference iterates over the rows and adds each row to all columns. With one thread per
/// row, many threads would add to the same number at once: a race, in which updates are lost.
///
/// Write the kernel in my/day06_transformer_ops/norm_weight.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// d_weight(c) += sum over m of grad(m, c) * (in(m, c) - rows(m, 0)) * rows(m, 1)
/// @param in        (M, C), contiguous
/// @param rows      (M, 2), contiguous: mean and scale of each row
/// @param grad      (M, C), contiguous
/// @param d_weight  (C), contiguous, read and written, overlapping no input
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void norm_weight_cpu(View<const float> in, View<const float> rows, View<const float> grad,
                     View<float> d_weight);
void norm_weight_cuda(View<const float> in, View<const float> rows, View<const float> grad,
                      View<float> d_weight, gpu::Stream stream = {});
void check_norm_weight(const View<const float>& in, const View<const float>& rows,
                       const View<const float>& grad, const View<float>& d_weight);

}  // namespace sixdays::day06_transformer_ops
