/// @file
/// The norms' backward passes. Layer norm, with z = (x - mean) * scale,
/// scale = 1 / sqrt(variance + eps), as in the forward pass:
///
///     d_bias(i)   += sum over rows of grad(i)
///     d_weight(i) += sum over rows of grad(i) * z(i)
///     h(i)         = grad(i) * weight(i)                    the gradient of z
///     d_in(i)     += scale * (h(i) - mean of h - z(i) * mean of h z)
///
/// Why two terms are subtracted: x(i) affects z(i), but also the row's mean, which shifts all
/// elements of the row equally, and its variance, which scales each element by its z. The result
/// has mean 0 and is orthogonal to z: a step along either would not change the output, because the
/// norm removes both.
///
/// RMS norm's is the same without the term of the mean, because it subtracts no mean: z = x *
/// scale, scale = 1 / sqrt(mean of x^2 + eps), d_in(i) += scale * (h(i) - z(i) * mean of h z).
///
/// All gradients are accumulated (+=), that of `in` too: in a transformer, `in` is the residual stream,
/// whose gradient also comes around the norm.
#pragma once

#include "common/gpu/how.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of layer norm's backward pass.
enum class LayerNormBackwardPath {
    row_per_thread,  // the twins: one thread per row, then one thread per column
    registers,  // 02: one warp per row, read once; whole vectors, at most kMostOfLanes elements
    ahead,      // 03: the same, while the next row is being copied
};
[[nodiscard]] const char* name(LayerNormBackwardPath path);
/// The longest row that a warp keeps in registers.
inline constexpr std::int64_t kMostOfLanes = 1024;

/// Where the gradients of a norm's parameters are added, (C) each; a null pointer: nowhere.
struct NormGradients {
    View<float> weight = {};  // d_weight, any strides
    View<float> bias = {};    // d_bias, any strides
};

/// The factor of z(i).
SIXDAYS_HD inline float weight_of(const NormParameters& parameters, std::int64_t i) noexcept {
    return parameters.weight.data != nullptr ? parameters.weight(i) : 1.0f;
}

/// The gradients of layer norm, with z = (x - mean) * scale, scale = 1 / sqrt(variance + eps), as in
/// the forward pass. They are accumulated (+=).
///
///     d_bias(i)   += sum over rows of grad(i)
///     d_weight(i) += sum over rows of grad(i) * z(i)
///     d_in(i)     += scale * (h(i) - mean of h - z(i) * mean of h z)     h(i) = grad(i) * weight(i)
///
/// @param in          (..., C), any strides: the input of the norm
/// @param parameters  as in the forward pass; the bias is not used
/// @param grad        of the norm's output, of in's shape
/// @param d_in        of in's shape, injective, overlapping no input
/// @param d           injective, overlapping nothing else
/// @throws std::invalid_argument  shapes that do not fit, an eps that is negative or NaN, an
/// output that is not injective, a null pointer, overlap; CUDA: too small a workspace
void layer_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                             View<const float> grad, View<float> d_in, const NormGradients& d);
/// @param how  its workspace, on any path, passes results from rows to columns
void layer_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                              View<const float> grad, View<float> d_in, const NormGradients& d,
                              const gpu::Launch<LayerNormBackwardPath>& how);
[[nodiscard]] std::int64_t layer_norm_backward_workspace_bytes(const View<const float>& in);

/// The gradients of RMS norm: layer_norm_backward_cpu() without the term of the mean, with the same
/// shapes and checks. CUDA uses 'ahead' if it supports these rows.
///
///     d_in(i) = scale * (h(i) - z(i) * mean of h z)     scale = 1 / sqrt(mean of x^2 + eps)
///
void rms_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                           View<const float> grad, View<float> d_in, const NormGradients& d);
/// @param workspace  passes results from rows to columns
void rms_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                            View<const float> grad, View<float> d_in, const NormGradients& d,
                            gpu::Workspace workspace, gpu::Stream stream = {});
[[nodiscard]] std::int64_t rms_norm_backward_workspace_bytes(const View<const float>& in);

/// What a norm's backward pass launches: plan_norm_backward().
struct NormBackwardPlan {
    LayerNormBackwardPath path;  // the one asked for, else the best
    Rows<const float> in, grad;  // along the last dimension
    Rows<float> d_in;            // as those of in
};
/// The one decision of both norms' backward passes, in the name of `op`: rejects invalid arguments,
/// and a path in `how` that does not support these views. Without a path: `ahead` if rows of all
/// three views suit 128-bit loads, up to kMostOfLanes elements, else row_per_thread.
/// @throws std::invalid_argument  as layer_norm_backward_cuda()
[[nodiscard]] NormBackwardPlan plan_norm_backward(
    const char* op, const View<const float>& in, const NormParameters& parameters,
    const View<const float>& grad, const View<float>& d_in, const NormGradients& d,
    const gpu::Launch<LayerNormBackwardPath>& how = {});

/// Results passed from rows to columns. RMS norm's mean is 0.
struct LayerNormLeft {
    View<float> rows;   // (rows, 2): mean and scale of each; for the twins
    View<float> parts;  // (blocks, 2, C): a block's contribution to weight and bias; for the steps
};
/// These results, in a workspace.
[[nodiscard]] LayerNormLeft layer_norm_left(gpu::Carver& carver, const View<const float>& in);

}  // namespace sixdays::day06_transformer_ops
