/// @file
/// The backward pass of attention_bf16: q, k, v and out are bf16, and the log-sum-exps were stored.
/// Formulas: attention_backward.hpp. Unlike the float operation it needs no preliminary pass over
/// the keys, because the log-sum-exp is known, and
///
///     delta(t) = sum over s of weight(t, s) (grad(t) . v(s)) = grad(t) . out(t)
///
/// So seven products remain per pair of tiles: three for d_q, four for d_k and d_v.
///
/// The CUDA version rounds the operands of products to bf16: grad, the weights, and d_score
/// before scale. All sums are float, and each has one writer: the same bits in every run. A sum is
/// rounded when it is stored, as the gradients are operands of the next products.
#pragma once

#include <optional>

#include "common/tensor/half.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of attention's backward pass from bf16.
enum class AttentionBackwardBf16Path {
    row_per_thread,  // the twin: one thread per query, then one thread per key
    tensor_cores,    // 02: one warp per 16 rows; scores, weights and slopes stay in its registers
};
[[nodiscard]] const char* name(AttentionBackwardBf16Path path);

/// The gradients of attention_bf16, by the formulas of attention_backward_cpu(), from the stored
/// output and log-sum-exps. The CUDA version rounds the operands of products to bf16; all sums are
/// float, and each has one writer: the same bits in every run. The gradients are rounded to bf16.
/// @param q         (..., T, D), as in attention_bf16, any strides
/// @param k, v      (..., S, D), dimensions before the last two as in q
/// @param options   causal and scale, as in the forward pass. A length is rejected
/// @param out       (..., T, D), the output of attention_bf16
/// @param log_sums  (..., T), the same
/// @param grad      (..., T, D), the gradient of the output
/// @param d         shapes of q, k and v, bf16; set (=); injective, overlapping nothing else
/// @throws std::invalid_argument  shapes that do not match, a length, outputs that are not
/// injective, a null pointer, overlap; CUDA: too small a workspace, a path that does not support
/// these views
void attention_backward_bf16_cpu(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                 const AttentionOptions& options, View<const bf16> out,
                                 View<const float> log_sums, View<const float> grad,
                                 const AttentionGradientsOf<bf16>& d);
/// @param how  its workspace: two numbers per query, and a copy of grad, on any path
void attention_backward_bf16_cuda(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                  const AttentionOptions& options, View<const bf16> out,
                                  View<const float> log_sums, View<const float> grad,
                                  const AttentionGradientsOf<bf16>& d,
                                  const gpu::Launch<AttentionBackwardBf16Path>& how = {});
[[nodiscard]] std::int64_t attention_backward_bf16_workspace_bytes(const View<const bf16>& q);
void check_attention_backward_bf16(const View<const bf16>& q, const View<const bf16>& k,
                                   const View<const bf16>& v, const AttentionOptions& options,
                                   const View<const bf16>& out, const View<const float>& log_sums,
                                   const View<const float>& grad,
                                   const AttentionGradientsOf<bf16>& d,
                                   std::optional<AttentionBackwardBf16Path> path = {});

/// The path that attention_backward_bf16_cuda() takes without one in gpu::Launch: tensor_cores if
/// D <= 128, rows of q, k and v suit 128-bit loads, and rows of `d` whole pairs; else
/// row_per_thread. For valid views.
[[nodiscard]] AttentionBackwardBf16Path choose_attention_backward_bf16(
    const View<const bf16>& q, const View<const bf16>& k, const View<const bf16>& v,
    const AttentionGradientsOf<bf16>& d);

}  // namespace sixdays::day06_transformer_ops
