/// @file
/// Exercise 7 of Day 06: add to the residual stream, then RMS norm.
///
/// Medium, 30 minutes.
///
/// Between two parts of a transformer block, the output of one part is added to the residual
/// stream, and the next part needs the sum normalized. RMS norm divides by the root of the mean
/// square. It does not subtract the mean:
///
///     residual (1, 2) = 1 2     in = 2 6     weight = 1 10      eps = 1e-12
///     residual becomes  3 8     the mean of 9 and 64 is 36.5, its root 6.0415
///                               out = 3 / 6.0415 * 1, 8 / 6.0415 * 10 = 0.4966 13.242
///
/// Two separate kernels would move in once, residual twice, and then residual again. A fused kernel
/// saves part of that. Use one warp per row and two passes: add, store and sum the squares; then
/// scale.
///
/// Write the kernel in my/day06_transformer_ops/add_rms_norm.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// residual(m, c) += in(m, c), and
/// out(m, c) = residual(m, c) / sqrt(mean over c of residual(m, c)^2 + eps) * weight(c)
/// @param in        (M, C), contiguous
/// @param weight    (C), contiguous
/// @param eps       positive: a row of zeros stays zero
/// @param residual  (M, C), contiguous, read and written
/// @param out       (M, C), contiguous; no two of the four overlap
/// @throws std::invalid_argument  other shapes or strides, eps not above 0, a null pointer, overlap
void add_rms_norm_cpu(View<const float> in, View<const float> weight, float eps,
                      View<float> residual, View<float> out);
void add_rms_norm_cuda(View<const float> in, View<const float> weight, float eps,
                       View<float> residual, View<float> out, gpu::Stream stream = {});
void check_add_rms_norm(const View<const float>& in, const View<const float>& weight, float eps,
                        const View<float>& residual, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
