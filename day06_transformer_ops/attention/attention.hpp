/// @file
/// Attention: each token attends to itself and the tokens before it. The dot products of its query
/// with their keys are its scores; softmax turns them into attention weights, and the output is the
/// weighted sum of the values:
///
///     score(t, s)  = scale * sum over d of q(t, d) * k(s, d)
///     weight(t, :) = softmax of score(t, :) over the tokens s that t sees
///     out(t, d)    = sum over s of weight(t, s) * v(s, d)
///
/// (Vaswani and others 2017, "Attention is all you need", arXiv 1706.03762, section 3.2.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of attention.
enum class AttentionPath {
    four_passes,   // one thread per query: the twin; scores in the workspace
    fused,         // 02: one warp per query; scores never leave the SM. D <= 128
    split_keys,    // 03: one block per query; its warps split the keys: for few queries. D <= 128
    tiles,         // 04: a thread has 8 x 8 scores in registers: for many queries. D <= 128
    split_blocks,  // 05: several blocks split a query's keys; 128-bit loads. D <= 128
    wide_heads,    // 06: one warp per query, sums kept in `out`: heads of any width
    tile,  // only on request: CUDA Tile C++. D <= 128; two stack dimensions, no negative strides
};
[[nodiscard]] const char* name(AttentionPath path);

/// What an attention computes beside its views.
struct AttentionOptions {
    bool causal = true;  // a token sees itself and those before it; false: all valid keys
    float scale = 0;     // 0: 1 / sqrt(D), so that scores do not grow with D
    /// The number of valid keys, in device memory for the CUDA version, so that a replayed launch
    /// can use a new length. Rank 0; a null pointer: all S. The CUDA version writes NaN if it is
    /// not in [0, S].
    View<const std::int64_t> length = {};
};

/// Scaled dot-product attention of each head (Vaswani and others 2017, arXiv 1706.03762, section
/// 3.2).
///
///     score(t, s) = scale * sum over d of q(t, d) * k(s, d)
///     out(t, d)   = sum over s of softmax(score(t, :))(s) * v(s, d)
///
/// Only the first `options.length` of S keys are valid: a KV cache has room for more. The last
/// query belongs to the last valid key, so causal token t sees length - T + t + 1 keys. (PyTorch's
/// `is_causal` lets token t see the first t + 1: the same if T = S.) A token that sees nothing gets
/// 0. Masked keys and values are not read and may be NaN; a visible value counts even if its weight
/// is 0: 0 * NaN is NaN.
/// Error of out(t, d) for a token that sees n keys: (2 (D + 6) P + 4 n + 40) 2^-24 of the sum of
/// weight * |v|; P is the largest of its scale * sum of |q k|.
/// @param q    (..., T, D), any strides. Dimensions before the last two are batch and head
/// @param k,v  (..., S, D), any strides; dimensions before the last two are broadcast to q's. Often
///             views of q's buffer: heads_of(). With a stride of 0, heads share keys: grouped()
/// @param options  causal or not; the scale, by default 1 / sqrt(D); how many keys are valid
/// @param out  (..., T, D), injective, overlapping no input
/// @param log_sums  null, or (..., T), injective, overlapping nothing else: receives the
/// log-sum-exp of each query's scores, from which the backward pass recomputes the weights;
/// -infinity where nothing is seen. Only 'tiles' writes it, so D <= 128
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap; a scale that is not finite; a path that does not support these views; the CPU
/// reference: a length not in [0, S]
void attention_cpu(View<const float> q, View<const float> k, View<const float> v,
                   const AttentionOptions& options, View<float> out, View<float> log_sums = {});
/// @param how  the twin keeps all scores in the workspace and needs one; 'split blocks' falls
/// back to one block per query without one; the others need none
void attention_cuda(View<const float> q, View<const float> k, View<const float> v,
                    const AttentionOptions& options, View<float> out, View<float> log_sums = {},
                    const gpu::Launch<AttentionPath>& how = {});

/// Bytes of workspace that `path` can use. Without a path: the best one for these views.
/// @throws std::invalid_argument  shapes that do not match
[[nodiscard]] std::int64_t attention_workspace_bytes(const View<const float>& q,
                                                     const View<const float>& k,
                                                     const View<const float>& v,
                                                     std::optional<AttentionPath> path = {});

/// The widest head that 'fused', 'split keys', 'tiles' and 'split blocks' support.
inline constexpr std::int64_t kMostOfHead = 128;

/// The path that attention_cuda() takes without one in gpu::Launch and log_sums:
/// `wide_heads` if D > 128; up to 4 queries, `split_blocks` if k and v suit 128-bit loads, else
/// `split_keys`; `tiles` from 64 queries on, if its shared memory suffices; else `fused`.
/// @param shared  bytes of shared memory per block: 'fused' needs less than 'tiles'
[[nodiscard]] AttentionPath choose_attention(const View<const float>& q, const View<const float>& k,
                                             const View<const float>& v,
                                             std::size_t shared = SIZE_MAX);
/// The one decision of attention_cpu() and attention_cuda(): the path in `how` if it supports these
/// arguments, else `tiles` for log_sums, else choose_attention().
/// @throws std::invalid_argument  as attention_cuda()
[[nodiscard]] AttentionPath plan_attention(const View<const float>& q, const View<const float>& k,
                                           const View<const float>& v,
                                           const AttentionOptions& options, const View<float>& out,
                                           const View<float>& log_sums = {},
                                           const gpu::Launch<AttentionPath>& how = {},
                                           std::size_t shared = SIZE_MAX);

/// Queries, keys and values, (B, H, T, D) each.
template <class T>
struct Heads {
    View<T> q, k, v;  // (B, H, T, D) each
};
/// The three as views of one buffer: nothing is copied.
///
///     qkv (B, T, 3 C), row-major             (3 T C, 3 C, 1)
///     a third of the columns (B, T, C)       (3 T C, 3 C, 1)       offset 0, C, 2 C
///     split into heads (B, T, H, D)          (3 T C, 3 C, D, 1)
///     heads before tokens (B, H, T, D)       (3 T C, D, 3 C, 1)
/// @throws std::invalid_argument  rank other than 3; last extent not 3 C; H does not divide C
template <class T>
[[nodiscard]] Heads<T> heads_of(const View<T>& qkv, std::int64_t H);

/// x (B, T, C) as (B, H, T, D): where attention puts its output, so that no copy joins the heads.
/// @throws std::invalid_argument  H does not divide C
template <class T>
[[nodiscard]] View<T> split_heads(const View<T>& x, std::int64_t H);

/// q or out (B, H, T, D) as (B, G, H / G, T, D): H / G heads in each of G groups (Ainslie and
/// others 2023, arXiv 2305.13245).
/// @throws std::invalid_argument  G does not divide H
template <class T>
[[nodiscard]] View<T> grouped(const View<T>& q, std::int64_t G) {
    if (q.rank() != 4 || G < 1 || q.extent(1) % G != 0) {
        reject("grouped: a shape ", q.shape(), " has no dim 1 of heads that ", G,
               " groups could share equally");
    }
    return reshape(q, {q.extent(0), G, q.extent(1) / G, q.extent(2), q.extent(3)});
}
/// k or v (B, G, S, D) as (B, G, 1, S, D): broadcast, so that all heads of a group share them.
template <class T>
[[nodiscard]] View<T> for_groups(const View<T>& k) {
    return unsqueeze(k, 2);
}

}  // namespace sixdays::day06_transformer_ops
