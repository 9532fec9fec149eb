/// @file
/// Attention's backward pass, where the forward pass was attention_bf16's: q, k, v and out are
/// bf16, and the logs of the sums were kept. Formulas: attention_backward.hpp. Two things need no
/// walk along the keys here, as they do in the float operation: the log of a query's sum of exp,
/// and
///
///     delta(t) = sum over s of share(t, s) (grad(t) . v(s)) = grad(t) . out(t)
///
/// So seven products are left for each pair of tiles: three for d_q, four for d_k and d_v.
///
/// Rounded to bf16 by the port, because products take nothing else: grad, shares, and d_score
/// before scale. All sums are float, and each has one writer: the same bits in every run.
#pragma once

#include <optional>

#include "common/tensor/half.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of attention's backward pass from bf16.
enum class AttentionBackwardBf16Path {
    row_a_thread,  // the loop's twin: a thread, a query; then a thread, a key
    tensor_cores,  // 02: a warp, 16 rows; scores, shares and their slopes stay in its registers
};
[[nodiscard]] const char* name(AttentionBackwardBf16Path path);

/// @param q         (..., T, D), as attention_bf16 was given it, any strides
/// @param k, v      (..., S, D), dims before the last two as q's
/// @param options   causal and scale, as in the forward pass. A length is refused
/// @param out       (..., T, D), as attention_bf16 made it
/// @param log_sums  (..., T), the same
/// @param grad      (..., T, D), of the output
/// @param d         of q's, k's and v's shapes, set; injective, apart from all else
/// @throws std::invalid_argument  shapes that do not fit, a length, outputs that are not injective,
/// a null pointer, overlap; the port: too small a workspace, a path that cannot take these views
void attention_backward_bf16_cpu(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                 const AttentionOptions& options, View<const bf16> out,
                                 View<const float> log_sums, View<const float> grad,
                                 const AttentionGradients& d);
/// @param how  its workspace: two numbers for each query, and grad once more, on any path
void attention_backward_bf16_cuda(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                  const AttentionOptions& options, View<const bf16> out,
                                  View<const float> log_sums, View<const float> grad,
                                  const AttentionGradients& d,
                                  const gpu::Launch<AttentionBackwardBf16Path>& how = {});
[[nodiscard]] std::int64_t attention_backward_bf16_workspace_bytes(const View<const bf16>& q);
void check_attention_backward_bf16(const View<const bf16>& q, const View<const bf16>& k,
                                   const View<const bf16>& v, const AttentionOptions& options,
                                   const View<const bf16>& out, const View<const float>& log_sums,
                                   const View<const float>& grad, const AttentionGradients& d,
                                   std::optional<AttentionBackwardBf16Path> path = {});

/// For views that were not refused.
[[nodiscard]] AttentionBackwardBf16Path choose_attention_backward_bf16(const View<const bf16>& q,
                                                                       const View<const bf16>& k,
                                                                       const View<const bf16>& v,
                                                                       const AttentionGradients& d);

}  // namespace sixdays::day06_transformer_ops
