/// @file
/// The norms' backward passes. Layer norm, with z = (x - mean) * scale,
/// scale = 1 / sqrt(variance + eps), as there:
///
///     d_bias(i)   += sum over rows of grad(i)
///     d_weight(i) += sum over rows of grad(i) * z(i)
///     h(i)         = grad(i) * weight(i)                    the gradient of z
///     d_in(i)      = scale * (h(i) - mean of h - z(i) * mean of h z)
///
/// Why two terms are taken off: x(i) moves z(i), but it also moves the row's mean, which all of the
/// row feels alike, and its variance, which each element feels by its own z. What is left has mean
/// 0 and no part along z: a step along either would change nothing, for the norm takes both out
/// again.
///
/// RMS norm's is the same less the mean's term, for no mean is taken off there: z = x * scale,
/// scale = 1 / sqrt(mean of x^2 + eps), d_in(i) = scale * (h(i) - z(i) * mean of h z).
///
/// Gradients of parameters are added to what is there (+=), the gradient of `in` is set (=).
#pragma once

#include "common/gpu/how.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of layer norm's backward pass.
enum class LayerNormBackwardPath {
    row_per_thread,  // the loop's twins: a thread, a row; then a thread, a column
    registers,  // 02: a warp, a row, read once; rows of whole vectorized, of kMostOfLanes at most
    ahead,      // 03: the same, and the next row is copied meanwhile
};
[[nodiscard]] const char* name(LayerNormBackwardPath path);
inline constexpr std::int64_t kMostOfLanes = 1024;

/// Where the gradients of a norm's parameters are added, (C) each; a null pointer: nowhere.
struct NormGradients {
    View<float> weight = {};
    View<float> bias = {};
};

/// The weight that element i of z is multiplied by.
SIXDAYS_HD inline float weight_of(const NormParameters& parameters, std::int64_t i) noexcept {
    return parameters.weight.data != nullptr ? parameters.weight(i) : 1.0f;
}

/// @param in          (..., C), any strides: what the norm was given
/// @param parameters  what it was given besides; the bias does not matter
/// @param grad        of the norm's output, of in's shape
/// @param d_in        of in's shape, injective, apart from all inputs
/// @param d           injective, apart from everything else
/// @throws std::invalid_argument  shapes that do not fit, an eps that is negative or no number, an
/// output that is not injective, a null pointer, overlap; the port: too small a workspace
void layer_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                             View<const float> grad, View<float> d_in, const NormGradients& d);
/// @param how  its workspace, on any path: what rows leave for columns
void layer_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                              View<const float> grad, View<float> d_in, const NormGradients& d,
                              const gpu::Launch<LayerNormBackwardPath>& how);
[[nodiscard]] std::int64_t layer_norm_backward_workspace_bytes(const View<const float>& in);
void check_layer_norm_backward(const View<const float>& in, const NormParameters& parameters,
                               const View<const float>& grad, const View<float>& d_in,
                               const NormGradients& d,
                               std::optional<LayerNormBackwardPath> path = {});
[[nodiscard]] LayerNormBackwardPath choose_layer_norm_backward(const View<const float>& in,
                                                               const View<const float>& grad,
                                                               const View<float>& d_in);

/// RMS norm's, with the same arguments and rejections; the port by 'ahead' where it takes these
/// rows.
void rms_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                           View<const float> grad, View<float> d_in, const NormGradients& d);
/// @param workspace  what rows leave for columns
void rms_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                            View<const float> grad, View<float> d_in, const NormGradients& d,
                            gpu::Workspace workspace, gpu::Stream stream = {});
[[nodiscard]] std::int64_t rms_norm_backward_workspace_bytes(const View<const float>& in);

/// What both norms' ways back reject, in the name of `op`.
void check_norm_backward(const char* op, const View<const float>& in,
                         const NormParameters& parameters, const View<const float>& grad,
                         const View<float>& d_in, const NormGradients& d);

/// What rows leave for columns. RMS norm's mean is 0.
struct LayerNormLeft {
    View<float> rows;   // (rows, 2): mean and scale of each; the twins'
    View<float> parts;  // (blocks, 2, C): what a block's rows give to weight and bias; the steps'
};
[[nodiscard]] LayerNormLeft layer_norm_left(gpu::Carver& carver, const View<const float>& in);

}  // namespace sixdays::day06_transformer_ops
