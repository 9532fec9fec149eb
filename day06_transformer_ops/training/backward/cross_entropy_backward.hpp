/// @file
/// The backward pass begins here: the derivative of the loss with respect to each logit.
///
///     p(j)   = softmax(logits(i))(j)
///     out(j) = grad(i) * (p(j) - [j == target(i)])
///
/// Derivation: loss = log(sum of exp(x)) - x(target). The derivative of the first term by x(j) is
/// exp(x(j)) / sum, which is p(j); that of the second is 1 at the target and 0 elsewhere. So
/// softmax and its loss together are simpler than each alone, and a row's elements add up to 0.
///
/// With the loss from the forward pass, p(j) = exp(x(j) - (loss + x(target))), and the logits are
/// read only once. p's error grows by (|loss| + 2 |loss + x(target)|) 2^-24 of it, and a target
/// whose logit is -infinity makes its row NaN.
///
/// As in the loss, the CPU reference rejects a target out of range, and the CUDA version fills its
/// row with NaN.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of cross-entropy's backward pass.
enum class CrossEntropyBackwardPath {
    row_per_thread,  // one thread per row: the twin
    block_per_row,   // 02: 128-bit loads, read twice; once with losses. Rows are contiguous
};
[[nodiscard]] const char* name(CrossEntropyBackwardPath path);

/// The gradient of each logit of a cross-entropy, T float or bf16. bf16 is the operand of the
/// product with the head's weights; only 'block per row' writes it.
///
///     out(i, j) = grad(i) * (softmax(logits(i))(j) - [j == target(i)])
///
/// The CUDA version fills the row of a target out of range with NaN.
/// @param logits   (..., V), any strides
/// @param targets  (...), any strides, 0 <= target < V
/// @param grad     of the losses, broadcast to (...): for the mean of N losses one number, 1 / N
/// @param out      (..., V), injective; may be `logits` itself, but overlaps no other input
/// @param losses   null, or (...), cross_entropy_cuda()'s result for these logits, not overlapping
///                 out: saves 'block per row' a pass; the twin and the CPU reference recompute it
/// @throws std::invalid_argument  shapes that do not match, V = 0, out not injective, a null
/// pointer, overlap; a path that does not support these views; the CPU reference: a target out of
/// range
template <class T>
void cross_entropy_backward_cpu(View<const float> logits, View<const std::int64_t> targets,
                                View<const float> grad, View<T> out, View<const float> losses = {});
template <class T>
void cross_entropy_backward_cuda(View<const float> logits, View<const std::int64_t> targets,
                                 View<const float> grad, View<T> out, View<const float> losses = {},
                                 const gpu::Launch<CrossEntropyBackwardPath>& how = {});

/// What a call of cross_entropy_backward launches: plan_cross_entropy_backward().
template <class T>
struct CrossEntropyBackwardPlan {
    CrossEntropyBackwardPath path;  // the one asked for, else the best
    Rows<const float> logits;       // along the last dimension
    View<const float> grad;         // with the shape of the losses
    Rows<T> out;                    // as those of logits
};
/// The one decision of CPU reference and CUDA version: rejects invalid arguments, and a path in
/// `how` that does not support these views. Without a path: block_per_row for bf16, and if rows of
/// both views are contiguous; else row_per_thread.
/// @throws std::invalid_argument  as cross_entropy_backward_cuda()
template <class T>
[[nodiscard]] CrossEntropyBackwardPlan<T> plan_cross_entropy_backward(
    const View<const float>& logits, const View<const std::int64_t>& targets,
    const View<const float>& grad, const View<T>& out, const View<const float>& losses,
    const gpu::Launch<CrossEntropyBackwardPath>& how = {});

}  // namespace sixdays::day06_transformer_ops
