/// @file
/// RMS norm's way back. With z = x * scale, scale = 1 / sqrt(mean of x^2 + eps), as there:
///
///     d_bias(i)   += sum over rows of grad(i)
///     d_weight(i) += sum over rows of grad(i) * z(i)
///     h(i)         = grad(i) * weight(i)                    the gradient of z
///     d_in(i)      = scale * (h(i) - z(i) * mean of h z)
///
/// Layer norm's, less the mean's term: no mean is taken off on the way there.
///
/// Gradients of parameters are added to what is there (+=), the gradient of `in` is set (=).
#pragma once

#include "day06_transformer_ops/training/layer_norm_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// @param in          (..., C), any strides: what the norm was given
/// @param parameters  what it was given besides; the bias does not matter
/// @param grad        of the norm's output, of in's shape
/// @param d_in        of in's shape, injective, apart from all inputs
/// @param d           injective, apart from everything else
/// @throws std::invalid_argument  as layer_norm_backward; the port: too small a workspace
void rms_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                           View<const float> grad, View<float> d_in, const NormGradients& d);
/// @param workspace  a number for each row
void rms_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                            View<const float> grad, View<float> d_in, const NormGradients& d,
                            gpu::Workspace workspace, gpu::Stream stream = {});
[[nodiscard]] std::int64_t rms_norm_backward_workspace_bytes(const View<const float>& in);

/// The scale of each row, which the port's rows leave for its columns.
[[nodiscard]] View<float> rms_norm_left(gpu::Carver& carver, const View<const float>& in);

}  // namespace sixdays::day06_transformer_ops
