/// @file
/// Cross-entropy: how surprised a model is by what came. It is what training makes small, and
/// perplexity is its exp.
///
///     out(i) = -log(softmax(logits(i))(targets(i)))
///            = log(sum over j of exp(x(j) - m)) - (x(target) - m)     x: row i, m: its largest
///
/// 0 if the model was certain of the target, log(V) if it took all V for equally probable. (The
/// formula: Goodfellow, Bengio and Courville, "Deep Learning", section 6.2.2.3.)
///
/// Targets of a port lie in device memory, where a launcher cannot look without waiting: a target
/// that names no logit becomes NaN there. The loop refuses it.
/// Error: log softmax', (|x(target) - m| + |y| + 3 log V + A + 6) 2^-24; A is V, by blocks and in tiles 6 V.
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of cross_entropy.
enum class CrossEntropyPath {
    thread_a_row,  // a thread, a row: the loop's twin
    block_a_row,   // 02: logits along memory, read once, in quads; nothing of them is kept
    tile,  // never chosen unasked: CUDA Tile C++; logits with no negative stride, and, after
           // simplifying, three dims of rows at most
};
[[nodiscard]] const char* name(CrossEntropyPath path);

/// @param logits   (..., V), any strides; T is float or bf16
/// @param targets  (...), any strides, 0 <= target < V
/// @param out      (...), injective, apart from the inputs
/// @throws std::invalid_argument  shapes that do not fit, V = 0, out not injective, a null pointer,
/// overlap; the loop: a target that names no logit
template <class T>
void cross_entropy_cpu(View<const T> logits, View<const std::int64_t> targets, View<float> out);
template <class T>
void cross_entropy_cuda(View<const T> logits, View<const std::int64_t> targets, View<float> out,
                        const gpu::Launch<CrossEntropyPath>& how = {});

/// What the operation refuses; with a path also what that path cannot take.
template <class T>
void check_cross_entropy(const View<const T>& logits, const View<const std::int64_t>& targets,
                         const View<float>& out, std::optional<CrossEntropyPath> path = {});

/// For targets in host memory. @throws std::invalid_argument  not 0 <= target < V, with its place
void check_targets(const View<const std::int64_t>& targets, std::int64_t V);

/// The best path for views that check_cross_entropy() has not refused.
template <class T>
[[nodiscard]] CrossEntropyPath choose_cross_entropy(const View<const T>& logits);

}  // namespace sixdays::day06_transformer_ops
