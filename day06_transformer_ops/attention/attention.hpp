/// @file
/// Attention: every token asks all tokens before it, and itself, what they know. Its query is
/// compared with the key of each; softmax turns the scores into shares, and the answer is the sum of
/// the values, each by its share:
///
///     score(t, s) = scale * sum over d of q(t, d) * k(s, d)
///     share(t, :) = softmax of score(t, :) over the tokens s that t sees
///     out(t, d)   = sum over s of share(t, s) * v(s, d)
///
/// For all versions: q has shape (..., T, D), k (..., S, D), v (..., S, D) and out (..., T, D), in
/// float and of any strides; out injective. The dims before the last two, say batch and head, are
/// q's; those of k and v are broadcast to them. Queries, keys and values are mostly views of one
/// buffer: heads_of(). Heads that share their keys are a dim of stride 0: grouped().
///
/// Of S keys the first `length` count: a cache holds more than it has been given yet. The last query
/// belongs to the last of them, so causal token t sees length - T + t + 1. A token that sees nothing
/// gets 0. What it does not see is not read, and may be NaN; what it sees counts even if its share is
/// 0, for 0 * NaN is NaN.
/// Error: that of softmax, of scores that are off by D + 2 half units of scale * |q| . |k|; and
/// another S of the mean of |v|.
/// @throws std::invalid_argument  shapes that do not fit, out not injective, a null pointer, overlap;
/// the loop: a length that is not 0 to S
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

enum class AttentionPath;  // below

struct AttentionOptions {
    bool causal = true;
    float scale = 0;  // 0: 1 / sqrt(D), so that scores do not grow with D
    /// How many keys count, in device memory for a port: a number that changes from token to token
    /// without a new launch. Rank 0; a null pointer: all S. A port answers a length that is not 0 to
    /// S with NaN.
    View<const std::int64_t> length = {};
};

void attention_cpu(View<const float> q, View<const float> k, View<const float> v,
                   const AttentionOptions& options, View<float> out);
void attention_cuda(View<const float> q, View<const float> k, View<const float> v,
                    const AttentionOptions& options, View<float> out, gpu::Stream stream = {});

/// With a workspace, of attention_workspace_bytes(choose_attention(q, k, v), q, k), all 0 before the
/// first call: it holds counters, which are 0 again after each.
void attention_cuda(View<const float> q, View<const float> k, View<const float> v,
                    const AttentionOptions& options, View<float> out, gpu::Workspace workspace,
                    gpu::Stream stream = {});

/// By one path. The twin keeps all scores in the workspace; 'split blocks' takes one block for a
/// query if there is none; the others need none.
/// @throws std::invalid_argument  also what that path cannot take
void attention_cuda(AttentionPath path, View<const float> q, View<const float> k,
                    View<const float> v, const AttentionOptions& options, View<float> out,
                    gpu::Workspace workspace = {}, gpu::Stream stream = {});

/// Bytes of workspace for the twin: a float for each pair of a query and a key.
[[nodiscard]] std::int64_t attention_workspace_bytes(View<const float> q, View<const float> k);
/// For any path.
[[nodiscard]] std::int64_t attention_workspace_bytes(AttentionPath path, View<const float> q,
                                                     View<const float> k);

void check_attention(const View<const float>& q, const View<const float>& k,
                     const View<const float>& v, const AttentionOptions& options,
                     const View<float>& out);
void check_attention(AttentionPath path, const View<const float>& q, const View<const float>& k,
                     const View<const float>& v, const AttentionOptions& options,
                     const View<float>& out);

/// Queries, keys and values, (B, H, T, D) each.
struct Heads {
    View<const float> q, k, v;
};
/// The three as views of one buffer: nothing is copied.
///
///     qkv (B, T, 3 C), row-major             (3 T C, 3 C, 1)
///     a third of the columns (B, T, C)       (3 T C, 3 C, 1)       begins at 0, C, 2 C
///     cut into heads (B, T, H, D)            (3 T C, 3 C, D, 1)
///     heads before tokens (B, H, T, D)       (3 T C, D, 3 C, 1)
/// @throws std::invalid_argument  not of rank 3, no thirds, H does not divide C
[[nodiscard]] Heads heads_of(const View<const float>& qkv, std::int64_t H);

/// x (B, T, C) as (B, H, T, D): where attention puts its output, so that no copy joins the heads.
/// @throws std::invalid_argument  H does not divide C
[[nodiscard]] View<float> split_heads(const View<float>& x, std::int64_t H);
[[nodiscard]] View<const float> split_heads(const View<const float>& x, std::int64_t H);

/// q or out (B, H, T, D) as (B, G, H / G, T, D): H / G heads in each of G groups.
/// @throws std::invalid_argument  G does not divide H
template <class T>
[[nodiscard]] View<T> grouped(const View<T>& q, std::int64_t G) {
    if (q.rank() != 4 || G < 1 || q.extent(1) % G != 0) {
        refuse("grouped: a shape " + to_string(q.shape()) + " has no dim 1 of heads that " +
               std::to_string(G) + " groups could share equally");
    }
    return reshape(q, {q.extent(0), G, q.extent(1) / G, q.extent(2), q.extent(3)});
}
/// k or v (B, G, S, D) as (B, G, 1, S, D): broadcast, so that all heads of a group see the same.
template <class T>
[[nodiscard]] View<T> for_groups(const View<T>& k) {
    return unsqueeze(k, 2);
}

/// How attention_cuda goes about it.
enum class AttentionPath {
    four_passes,   // a thread, a query: the loop's twin; scores lie in the workspace
    fused,         // 02: a warp, a query; scores never leave the multiprocessor. D <= 128
    split_keys,    // 03: a block, a query, and its warps share out the keys: for few queries
    tiles,         // 04: a thread has 8 x 8 scores in registers: for many queries. D <= 128
    split_blocks,  // 05: many blocks share out a query's keys, which are read in quads. D <= 128
};
[[nodiscard]] const char* name(AttentionPath path);

/// The widest head that steps take.
inline constexpr std::int64_t kMostOfHead = 128;

/// The best for these views. @throws std::invalid_argument  D > kMostOfHead
/// @param shared  bytes of shared memory that a block may have: 'fused' does with less than 'tiles'
[[nodiscard]] AttentionPath choose_attention(const View<const float>& q, const View<const float>& k,
                                             const View<const float>& v,
                                             std::size_t shared = SIZE_MAX);

}  // namespace sixdays::day06_transformer_ops
