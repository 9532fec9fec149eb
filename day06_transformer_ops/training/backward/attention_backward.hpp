/// @file
/// Attention's backward pass. In the forward pass, for each query t and each key s that it sees:
///
///     score(t, s)  = scale * q(t) . k(s)
///     weight(t, s) = softmax(score)(t, s)
///     out(t)       = sum over s of weight(t, s) * v(s)
///
/// and so, with d_weight(t, s) = grad(t) . v(s):
///
///     delta(t)      = sum over s of weight(t, s) * d_weight(t, s)
///     d_score(t, s) = weight(t, s) * (d_weight(t, s) - delta(t))  through softmax
///     d_q(t) = scale * sum over s of d_score(t, s) * k(s)         a query gathers from its keys,
///     d_k(s) = scale * sum over t of d_score(t, s) * q(t)         a key from queries that see it,
///     d_v(s) = sum over t of weight(t, s) * grad(t)               and so does a value
///
/// No T x S matrix is stored. The attention weights are recomputed from the scores and one number
/// per query, the log-sum-exp: weight = exp(score - log_sum) (Dao and others 2022, arXiv
/// 2205.14135, appendix B.2). There is a pass over queries and a pass over keys, and each sum has
/// one writer, so results are bitwise reproducible.
///
/// If the forward pass stores each query's log_sum, as attention_cuda() can, the pass over queries
/// needs no preliminary pass over the keys, because exchanging the sums in delta's definition gives
///
///     delta(t) = sum over s of weight(t, s) (grad(t) . v(s)) = grad(t) . out(t)
#pragma once

#include "day06_transformer_ops/attention/attention.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of attention's backward pass.
enum class AttentionBackwardPath {
    row_per_thread,  // the twins: one thread per query, then one thread per key
    tiles,           // 02: a block owns 64 queries, then 64 keys; loops over tiles. D <= 128
    kept,            // 03: with the forward pass's results, one loop per block. D <= 128
};
[[nodiscard]] const char* name(AttentionBackwardPath path);

/// The gradients of queries, keys and values, of the same shapes; they are set (=), not added to.
template <class T>
struct AttentionGradientsOf {
    View<T> q, k, v;  // of the shapes of q, k and v
};
/// The gradients of float queries, keys and values.
using AttentionGradients = AttentionGradientsOf<float>;

/// Results of the forward pass, both or neither.
struct AttentionSaved {
    View<const float> out = {};       // (..., T, D)
    View<const float> log_sums = {};  // (..., T)

    /// Is at least one of them there?
    [[nodiscard]] bool given() const { return out.data != nullptr || log_sums.data != nullptr; }
};

/// The gradients of attention's queries, keys and values; they are set (=), not added to. The
/// weights are recomputed from the scores and each query's log-sum-exp (Dao and others 2022, arXiv
/// 2205.14135, appendix B.2). With d_weight(t, s) = grad(t) . v(s) and
/// delta(t) = sum over s of weight(t, s) * d_weight(t, s):
///
///     d_score(t, s) = weight(t, s) * (d_weight(t, s) - delta(t))
///     d_q(t) = scale * sum over s of d_score(t, s) * k(s)
///     d_k(s) = scale * sum over t of d_score(t, s) * q(t)
///     d_v(s) = sum over t of weight(t, s) * grad(t)
///
/// @param q        (..., T, D), as in the forward pass, any strides
/// @param k, v     (..., S, D), of q's rank; a dimension before the last two may be 1 if q's is
///                 not: heads that share keys, whose gradients add up
/// @param options  causal and scale. A length is rejected: it belongs to a KV cache, which training
///                 does not have
/// @param grad     (..., T, D), the gradient of the output
/// @param d        injective, overlapping no input and not each other
/// @param saved    saves 'kept', which needs it, a pass over the keys; the other paths and the CPU
///                 reference recompute it
/// @throws std::invalid_argument  shapes that do not match, a length, outputs that are not
/// injective, a null pointer, overlap; CUDA: a workspace that is too small
void attention_backward_cpu(View<const float> q, View<const float> k, View<const float> v,
                            const AttentionOptions& options, View<const float> grad,
                            const AttentionGradients& d, const AttentionSaved& saved = {});
/// @param how  its workspace: two numbers per query, on any path
void attention_backward_cuda(View<const float> q, View<const float> k, View<const float> v,
                             const AttentionOptions& options, View<const float> grad,
                             const AttentionGradients& d, const AttentionSaved& saved = {},
                             const gpu::Launch<AttentionBackwardPath>& how = {});
[[nodiscard]] std::int64_t attention_backward_workspace_bytes(const View<const float>& q);
void check_attention_backward(const View<const float>& q, const View<const float>& k,
                              const View<const float>& v, const AttentionOptions& options,
                              const View<const float>& grad, const AttentionGradients& d,
                              const AttentionSaved& saved = {},
                              std::optional<AttentionBackwardPath> path = {});

/// The path that attention_backward_cuda() takes without one in gpu::Launch: row_per_thread below
/// 32 queries, if D > 128, or if shared memory does not suffice; else `tiles`.
/// @param shared  bytes of shared memory that a block may have
/// @param saved   the forward pass's results are available: for more than 64 queries, 'kept'
/// replaces 'tiles'
[[nodiscard]] AttentionBackwardPath choose_attention_backward(const View<const float>& q,
                                                              std::size_t shared = SIZE_MAX,
                                                              bool saved = false);
/// For training: does this device support these queries by 'kept', and their log_sums by
/// attention_cuda()?
[[nodiscard]] bool attention_keeps_cuda(const View<const float>& q);

}  // namespace sixdays::day06_transformer_ops
