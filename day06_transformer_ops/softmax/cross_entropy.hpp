/// @file
/// Cross-entropy: the loss that training minimizes, the negative log-probability of the target.
/// Perplexity is the exponential of its mean.
///
///     out(i) = -log(softmax(logits(i))(targets(i)))
///            = log(sum over j of exp(x(j) - m)) - (x(target) - m)     x: row i, m: its largest
///
/// 0 if the model was certain of the target, log(V) if all V tokens were equally probable. (The
/// formula: Goodfellow, Bengio and Courville, "Deep Learning", section 6.2.2.3.)
///
/// The CUDA version's targets are in device memory, where the launcher cannot read them without
/// waiting: a target out of range gives NaN. The CPU reference rejects it.
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of cross_entropy.
enum class CrossEntropyPath {
    thread_per_row,  // one thread per row: the twin
    block_per_row,   // 02: contiguous rows of logits, read once with 128-bit loads, not kept
    tile,  // only on request: CUDA Tile C++; logits with no negative stride, and at most three
           // dimensions of rows after simplification
};
[[nodiscard]] const char* name(CrossEntropyPath path);

/// Cross-entropy: the negative log-probability of each row's target (Goodfellow, Bengio and
/// Courville, "Deep Learning", section 6.2.2.3).
///
///     out(i) = log(sum over j of exp(x(j) - m)) - (x(target) - m)     x: row i, m: its largest
///
/// The CUDA version gives NaN for a target out of range, which its launcher cannot read.
/// Error: log softmax's, (|x(target) - m| + |y| + 3 log V + A + 6) 2^-24; A is V, or 6 V by blocks
/// and in tiles.
/// @param logits   (..., V), any strides; T is float or bf16
/// @param targets  (...), any strides, 0 <= target < V
/// @param out      (...), injective, overlapping no input
/// @throws std::invalid_argument  shapes that do not match, V = 0, out not injective, a null
/// pointer, overlap; the CPU reference: a target out of range
template <class T>
void cross_entropy_cpu(View<const T> logits, View<const std::int64_t> targets, View<float> out);
template <class T>
void cross_entropy_cuda(View<const T> logits, View<const std::int64_t> targets, View<float> out,
                        const gpu::Launch<CrossEntropyPath>& how = {});

/// What a call of cross_entropy launches: plan_cross_entropy().
template <class T>
struct CrossEntropyPlan {
    CrossEntropyPath path;             // the one asked for, else the best
    Rows<const T> logits;              // along the last dimension
    View<const std::int64_t> targets;  // as given
    View<float> out;                   // as given
};

/// The one decision of cross_entropy_cpu() and cross_entropy_cuda(): rejects invalid arguments, and
/// a path in `how` that does not support these views. Without a path: block_per_row for contiguous
/// rows of fewer than 2^31 logits, else thread_per_row.
/// @throws std::invalid_argument  as cross_entropy_cuda()
template <class T>
[[nodiscard]] CrossEntropyPlan<T> plan_cross_entropy(const View<const T>& logits,
                                                     const View<const std::int64_t>& targets,
                                                     const View<float>& out,
                                                     const gpu::Launch<CrossEntropyPath>& how = {});

/// For targets in host memory. @throws std::invalid_argument  not 0 <= target < V, with its index
void check_targets(const View<const std::int64_t>& targets, std::int64_t V);

}  // namespace sixdays::day06_transformer_ops
