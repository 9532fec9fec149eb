/// @file
/// The backward pass of a linear layer whose operands are bf16: the two products of
/// linear_backward.hpp on tensor cores, by Day 05, without a new kernel.
///
///     d_in     = grad . weightᵀ      (M, N) (N, K)
///     d_weight += inᵀ . grad         (K, M) (M, N)
///
/// Sums are float: each product of two bf16 is exact in a float, and a gradient that many batches add
/// to stays float. A bf16 sum would stop growing as soon as a term is less than 1/512 of it. d_in is
/// stored once and then read, so it may be rounded.
/// Error: as in matmul_bf16.hpp. A bias needs no product: bias_backward_cuda().
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// The gradients of a linear layer whose operands are bf16; sums are float. Error: as in
/// matmul_bf16.hpp.
///
///     d_in     = grad . weightᵀ
///     d_weight += inᵀ . grad
///
/// @param in        (..., K), as in linear_backward: dimensions before the last are rows
/// @param weight    (K, N), any strides
/// @param grad      (..., N), of the layer's output
/// @param d_in      (..., K), set; float, or bf16, which is rounded to nearest
/// @param d_weight  (K, N), any strides; added to
/// @throws std::invalid_argument  shapes that do not match, rows that do not merge into one
/// dimension, an output that is not injective, a null pointer, overlap
template <class In>
void linear_backward_bf16_cpu(View<const bf16> in, View<const bf16> weight, View<const bf16> grad,
                              View<In> d_in, View<float> d_weight);
template <class In>
void linear_backward_bf16_cuda(View<const bf16> in, View<const bf16> weight, View<const bf16> grad,
                               View<In> d_in, View<float> d_weight, gpu::Stream stream = {});
template <class In>
void check_linear_backward_bf16(const View<const bf16>& in, const View<const bf16>& weight,
                                const View<const bf16>& grad, const View<In>& d_in,
                                const View<float>& d_weight);

}  // namespace sixdays::day06_transformer_ops
