/// @file
/// The backward pass of a linear layer, out = in . weight + bias: two matrix products of Day 05, and
/// sums over rows as in Day 04.
///
///     d_in     = grad . weightᵀ            (M, N) (N, K)   input: times its weights
///     d_weight += inᵀ . grad               (K, M) (M, N)   weight: times its inputs
///     d_bias   += sum over rows of grad    (N)             a bias is added to every row
///
/// The transposes are views. A tied head has weight = transpose(tokens), and its gradient is added
/// to transpose(d_tokens), to which the embedding's own gradient is added too.
///
/// Gradients of parameters are accumulated (+=); the gradient of `in` is set (=).
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// Where the gradients of a linear layer's parameters are added.
struct LinearGradients {
    View<float> weight = {};  // (K, N), any strides
    View<float> bias = {};    // (N); a null pointer: no bias
};

/// The gradients of a linear layer, out = in . weight + bias. Those of parameters are accumulated
/// (+=); that of `in` is set (=).
///
///     d_in     = grad . weightᵀ
///     d_weight += inᵀ . grad
///     d_bias   += sum over rows of grad
///
/// @param in      (..., K): the input of the layer; dimensions before the last are rows, and must
///                merge into one dimension
/// @param weight  (K, N), any strides
/// @param grad    (..., N), of the layer's output; rows as in's
/// @param d_in    (..., K), injective, overlapping nothing else
/// @param d       injective, overlapping nothing else
/// @throws std::invalid_argument  shapes that do not match, rows that do not merge into one
/// dimension, an output that is not injective, a null pointer, overlap; CUDA: too small a workspace
void linear_backward_cpu(View<const float> in, View<const float> weight, View<const float> grad,
                         View<float> d_in, const LinearGradients& d);
void linear_backward_cuda(View<const float> in, View<const float> weight, View<const float> grad,
                          View<float> d_in, const LinearGradients& d, gpu::Workspace workspace,
                          gpu::Stream stream = {});
/// The gradient of the bias alone. T is float or bf16; sums are float.
/// @param grad    (..., N), as linear_backward's
/// @param d_bias  (N), injective, not overlapping grad; added to
/// @throws std::invalid_argument  as linear_backward_cuda()
template <class T>
void bias_backward_cuda(View<const T> grad, View<float> d_bias, gpu::Workspace workspace,
                        gpu::Stream stream = {});
template <class T>
[[nodiscard]] std::int64_t bias_backward_workspace_bytes(const View<const T>& grad);
/// Bytes of workspace that linear_backward_cuda() needs. The views need not have memory yet.
/// @throws std::invalid_argument  check_linear_shapes()
[[nodiscard]] std::int64_t linear_backward_workspace_bytes(const View<const float>& in,
                                                           const View<const float>& weight,
                                                           const View<const float>& grad,
                                                           const LinearGradients& d);
void check_linear_backward(const View<const float>& in, const View<const float>& weight,
                           const View<const float>& grad, const View<float>& d_in,
                           const LinearGradients& d);
/// Rejects, in the name of `op`, what every linear layer's backward pass rejects, T float or bf16.
/// @tparam In  of d_in: float or T
template <class T, class In>
void require_linear_backward(const char* op, const View<const T>& in, const View<const T>& weight,
                             const View<const T>& grad, const View<In>& d_in,
                             const LinearGradients& d);
template <class T>
void check_bias_backward(const View<const T>& grad, const View<float>& d_bias);
/// Checks only shapes and strides.
void check_linear_shapes(const View<const float>& in, const View<const float>& weight,
                         const View<const float>& grad, const LinearGradients& d);

/// (..., K) as (rows, K). @throws std::invalid_argument  the rows do not merge into one dimension
template <class T>
[[nodiscard]] View<T> as_matrix(const View<T>& x);

}  // namespace sixdays::day06_transformer_ops
