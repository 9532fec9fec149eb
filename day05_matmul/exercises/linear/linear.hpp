/// @file
/// Exercise 9 of Day 05: a linear layer.
///
/// Easy, 20 minutes.
///
/// A linear layer has one weight per pair of an output channel and an input channel, and one bias
/// per output channel. The weights are stored as (OC, C): each row belongs to one output channel. T
/// tokens of C channels become T tokens of OC channels:
///
///     x (1, 3) = 1 2 3     w (2, 3) = 1  0 -1     bias (2) = 10 20     out (1, 2) = 8 32
///                                     2  2  2
///
/// Write the kernel in my/day05_matmul/linear.cu, then run `common/learn check day05`. Use one
/// thread per output, and let neighbouring lanes write neighbouring outputs.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// out(t, oc) = bias(oc) + sum over c of x(t, c) * w(oc, c), in the order of c
/// @param x     (T, C), any strides
/// @param w     (OC, C), any strides
/// @param bias  (OC), any stride
/// @param out   (T, OC), any strides, injective; C = 0 makes it the bias
/// @throws std::invalid_argument  shapes that do not fit, more than 524,280 tokens, out not
/// injective, a null pointer, out overlaps an input
void linear_cpu(View<const float> x, View<const float> w, View<const float> bias, View<float> out);
void linear_cuda(View<const float> x, View<const float> w, View<const float> bias, View<float> out,
                 gpu::Stream stream = {});
void check_linear(const View<const float>& x, const View<const float>& w,
                  const View<const float>& bias, const View<float>& out);

}  // namespace sixdays::day05_matmul
