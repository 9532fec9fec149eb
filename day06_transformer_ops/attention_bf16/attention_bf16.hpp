/// @file
/// Attention of 16-bit numbers: q, k, v and out are bf16 or f16, and scores, shares' sums and the
/// sums of values are float. What it computes, its shapes and its length are those of
/// attention.hpp; its steps multiply on tensor cores.
///
/// For all versions: T is bf16 or f16. In addition to `out` there are, if asked for, the logs of
/// the sums: log_sums(t) = log of the sum over s of exp(score(t, s)), (...) as q without its last
/// dim, float; -infinity for a token that sees nothing. Training needs them to make the shares
/// again. Where all scores that a token sees are -infinity, log_sums is -infinity too, and out NaN.
///
/// What a token does not see may be NaN or infinite among queries and keys, but not among values:
/// tiles multiply also what the mask hides, by a share of 0, and 0 * NaN is NaN, as 0 * infinity
/// is. (Beyond `length` nothing is read.)
///
/// Error of out(t, d) for a token that sees n keys, with A = sum of share * |v|, P the largest of
/// its scale * sum of |q k|, and u = 2^-8 for bf16 or 2^-11 for f16, a rounding to T:
///
///     (u + ((36 ceil(D / 8) + 12) P + 7 n + 120) 2^-24) A + u |out|
///
/// and for f16, which ends at 2^-24, (n max |v| + 1) 2^-24 more. Values of bf16 may be up to
/// 2^112 / n: a sum with a guessed maximum may grow to 2^15 |v| for each key, and float ends at
/// 2^128.
/// @throws std::invalid_argument  as attention_cpu(); a negative scale; log_sums that do not fit; a
/// path that cannot take these views: of the steps after the twin at most 2^31 - 1 tokens and keys
#pragma once

#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/attention/attention.hpp"

namespace sixdays::day06_transformer_ops {

/// The ladder.
enum class AttentionBf16Path {
    four_passes,   // a thread, a query: the loop's twin; scores lie in the workspace
    tensor_cores,  // 02: a warp, 32 queries; scores and shares stay in its registers. Rows of quads
    guessed_maximum,  // 03: and a tile is searched for a maximum only where the last will not do
    warpgroups,  // 04: Hopper's: operands from shared memory, exps taken under the products. Heads
                 // of 64 or 128, no length
    tile,        // CUDA Tile C++: attention_bf16_tile.cu
};
[[nodiscard]] const char* name(AttentionBf16Path path);

/// @param log_sums  a null pointer: not wanted
template <class T>
void attention_bf16_cpu(View<const T> q, View<const T> k, View<const T> v,
                        const AttentionOptions& options, View<T> out, View<float> log_sums = {});
/// @param how  the twin keeps all scores in the workspace and needs one; the others use none
template <class T>
void attention_bf16_cuda(View<const T> q, View<const T> k, View<const T> v,
                         const AttentionOptions& options, View<T> out, View<float> log_sums = {},
                         const gpu::Launch<AttentionBf16Path>& how = {});

/// Bytes of workspace that `path` needs.
template <class T>
[[nodiscard]] std::int64_t attention_bf16_workspace_bytes(View<const T> q, View<const T> k,
                                                          AttentionBf16Path path);

/// What the operation refuses; with a path also what that path cannot take.
template <class T>
void check_attention_bf16(View<const T> q, View<const T> k, View<const T> v,
                          const AttentionOptions& options, View<T> out, View<float> log_sums = {},
                          std::optional<AttentionBf16Path> path = {});

/// The best path for these views. @param has_length  is there a length in memory?
template <class T>
[[nodiscard]] AttentionBf16Path choose_attention_bf16(View<const T> q, View<const T> k,
                                                      View<const T> v, View<T> out,
                                                      bool has_length = false,
                                                      bool on_hopper = gpu::on_hopper(),
                                                      int multiprocessors = gpu::multiprocessors());

}  // namespace sixdays::day06_transformer_ops
