/// @file
/// Attention of 16-bit numbers: q, k, v and out are bf16 or f16; scores, sums of weights and sums
/// of values are float. Definition, shapes and length are those of attention.hpp; the steps
/// multiply on tensor cores.
///
/// If all scores that a token sees are -infinity, log_sums is -infinity too, and out is NaN.
///
/// Masked keys may be NaN or infinite, but masked values may not: tiles also multiply masked
/// values, by a weight of 0, and 0 * NaN and 0 * infinity are NaN. (Beyond `length` nothing is
/// read.)
///
/// The error of f16, which ends at 2^-24, is larger by (n max |v| + 1) 2^-24. Values of bf16 may be up to
/// 2^112 / n: with a guessed maximum, a sum may grow to 2^15 |v| per key, and float ends at 2^128.
#pragma once

#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/attention/attention.hpp"

namespace sixdays::day06_transformer_ops {

/// The optimization steps.
enum class AttentionBf16Path {
    four_passes,      // one thread per query: the twin; scores in the workspace
    tensor_cores,     // 02: one warp per 32 queries; scores stay in registers. Rows of vectors
    guessed_maximum,  // 03: a tile is searched for a maximum only where the last one is too small
    warpgroups,  // 04: Hopper: wgmma from shared memory, exponentials overlap with products. Heads
                 // of 64 or 128, no length
    tile,        // CUDA Tile C++: attention_bf16_tile.cu
};
[[nodiscard]] const char* name(AttentionBf16Path path);

/// Attention of bf16 or f16, by the definition of attention_cpu(), with float sums. Also writes the
/// log-sum-exps, from which training recomputes the weights: log_sums(t) = log of the sum over s of
/// exp(score(t, s)), -infinity for a token that sees nothing.
///
/// Error of out(t, d) for a token that sees n keys, with A = sum of weight * |v|, P the largest of
/// its scale * sum of |q k|, and u = 2^-8 for bf16 or 2^-11 for f16, a rounding to T:
///
///     (u + ((36 ceil(D / 8) + 12) P + 7 n + 120) 2^-24) A + u |out|
///
/// @param q         (..., T, D), any strides
/// @param k,v       (..., S, D), any strides; dimensions before the last two are broadcast to q's.
///                  Masked values must be finite
/// @param out       (..., T, D), injective, overlapping no input
/// @param log_sums  (..., T), injective, overlapping nothing; or a null pointer
/// @throws std::invalid_argument  as attention_cpu(); a negative scale; log_sums of another shape;
/// a path that does not support these views: all but the twin need at most 2^31 - 1 tokens and keys
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

/// The path that attention_bf16_cuda() takes without one in gpu::Launch; the first that applies:
///
/// - `four_passes` if D > 128, if rows do not suit 128-bit loads, or above 2^31 - 1 tokens or keys
/// - `warpgroups` on Hopper if it supports the views, from 256 keys on for D = 128; for D = 64,
///   from 512 keys on if each SM has at most one block, else from 1,536: below, it is slower
/// - `guessed_maximum` otherwise
/// @param has_length  whether the length is in memory
template <class T>
[[nodiscard]] AttentionBf16Path choose_attention_bf16(View<const T> q, View<const T> k,
                                                      View<const T> v, View<T> out,
                                                      bool has_length = false,
                                                      bool on_hopper = gpu::on_hopper(),
                                                      int multiprocessors = gpu::multiprocessors());
/// The one decision of attention_bf16_cuda(): the path in `how` if it supports these arguments, else
/// choose_attention_bf16().
/// @throws std::invalid_argument  as attention_bf16_cuda()
template <class T>
[[nodiscard]] AttentionBf16Path plan_attention_bf16(View<const T> q, View<const T> k,
                                                    View<const T> v,
                                                    const AttentionOptions& options, View<T> out,
                                                    View<float> log_sums,
                                                    const gpu::Launch<AttentionBf16Path>& how);

}  // namespace sixdays::day06_transformer_ops
