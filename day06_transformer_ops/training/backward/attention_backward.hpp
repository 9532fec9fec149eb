/// @file
/// Attention's backward pass. In the forward pass, for each query t and each key s that it sees:
///
///     score(t, s) = scale * q(t) . k(s)    share = softmax(score)    out(t) = sum share(t, s) v(s)
///
/// and so, with d_share(t, s) = grad(t) . v(s):
///
///     delta(t)      = sum over s of share(t, s) * d_share(t, s)
///     d_score(t, s) = share(t, s) * (d_share(t, s) - delta(t))     softmax: shares add up to 1
///     d_q(t) = scale * sum over s of d_score(t, s) * k(s)          a query gathers from keys,
///     d_k(s) = scale * sum over t of d_score(t, s) * q(t)          a key from queries that see it,
///     d_v(s) = sum over t of share(t, s) * grad(t)                 a value too
///
/// Nothing of T x S is kept. Shares are made again from the scores and one number a query, the log
/// of its sum of exp: share = exp(score - log_sum) (Dao and others 2022, arXiv 2205.14135, appendix
/// B.2). There is a pass by queries and a pass by keys, and each sum has one writer: the same bits
/// each time.
///
/// Or the forward pass leaves each query's log_sum, which attention_and_log_sums_cuda() does. Then
/// the pass by queries needs no walk before its own, for with the sums of delta's definition
/// exchanged
///
///     delta(t) = sum over s of share(t, s) (grad(t) . v(s)) = grad(t) . out(t)
#pragma once

#include "day06_transformer_ops/attention/attention.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of attention's backward pass.
enum class AttentionBackwardPath {
    row_a_thread,  // the loops' twins: a thread, a query; then a thread, a key
    tiles,         // 02: a block owns 64 queries, then 64 keys, and walks in tiles. D <= 128
    kept,          // 03: of what the forward pass left, one walk of each block. D <= 128
};
[[nodiscard]] const char* name(AttentionBackwardPath path);

/// The gradients of queries, keys and values, of their shapes, set (=).
struct AttentionGradients {
    View<float> q, k, v;
};

/// What the forward pass left.
struct AttentionLeft {
    View<const float> out;       // (..., T, D)
    View<const float> log_sums;  // (..., T)
};

/// @param q        (..., T, D), as attention was given it, any strides
/// @param k, v     (..., S, D), of q's rank; a dim before the last two may be 1 where q's is not:
///                 heads that share keys, whose gradients add up
/// @param options  causal and scale. A length is refused: it belongs to a cache, and training has
///                 none
/// @param grad     (..., T, D), of the output
/// @param d        injective, apart from the inputs and each other
/// @throws std::invalid_argument  shapes that do not fit, a length, outputs that are not injective,
/// a null pointer, overlap; the port: too small a workspace
void attention_backward_cpu(View<const float> q, View<const float> k, View<const float> v,
                            const AttentionOptions& options, View<const float> grad,
                            const AttentionGradients& d);
/// @param how  its workspace: two numbers for each query, on any path
void attention_backward_cuda(View<const float> q, View<const float> k, View<const float> v,
                             const AttentionOptions& options, View<const float> grad,
                             const AttentionGradients& d,
                             const gpu::Launch<AttentionBackwardPath>& how = {});
/// The same from what the forward pass left; apart from d.
void attention_backward_from_left_cuda(View<const float> q, View<const float> k,
                                       View<const float> v, const AttentionOptions& options,
                                       const AttentionLeft& left, View<const float> grad,
                                       const AttentionGradients& d,
                                       const gpu::Launch<AttentionBackwardPath>& how = {});
[[nodiscard]] std::int64_t attention_backward_workspace_bytes(const View<const float>& q);
void check_attention_backward(const View<const float>& q, const View<const float>& k,
                              const View<const float>& v, const AttentionOptions& options,
                              const View<const float>& grad, const AttentionGradients& d,
                              std::optional<AttentionBackwardPath> path = {},
                              const std::optional<AttentionLeft>& left = {});

/// @param shared  bytes of shared memory that a block may have
/// @param left    the forward pass left something: of more than 64 queries 'kept' takes the place
/// of 'tiles'
[[nodiscard]] AttentionBackwardPath choose_attention_backward(const View<const float>& q,
                                                              std::size_t shared = SIZE_MAX,
                                                              bool left = false);
/// For a model that trains: this device takes these queries by that path, and by
/// attention_and_log_sums_cuda().
[[nodiscard]] bool attention_keeps_cuda(const View<const float>& q);

}  // namespace sixdays::day06_transformer_ops
