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
/// read only once.
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
    block_per_row,   // 02: 128-bit loads, read twice; once with the losses. Rows are contiguous
};
[[nodiscard]] const char* name(CrossEntropyBackwardPath path);

/// The gradient of each logit of a cross-entropy.
///
///     out(i, j) = grad(i) * (softmax(logits(i))(j) - [j == target(i)])
///
/// The CUDA version fills the row of a target out of range with NaN.
/// @param logits   (..., V), any strides
/// @param targets  (...), any strides, 0 <= target < V
/// @param grad     of the losses, broadcast to (...): for the mean of N losses one number, 1 / N
/// @param out      (..., V), injective; may be `logits` itself, but overlaps no other input
/// @throws std::invalid_argument  shapes that do not match, V = 0, out not injective, a null
/// pointer, overlap; the CPU reference: a target out of range
void cross_entropy_backward_cpu(View<const float> logits, View<const std::int64_t> targets,
                                View<const float> grad, View<float> out);
void cross_entropy_backward_cuda(View<const float> logits, View<const std::int64_t> targets,
                                 View<const float> grad, View<float> out,
                                 const gpu::Launch<CrossEntropyBackwardPath>& how = {});
/// cross_entropy_backward_cuda() with a single pass over the logits, T float or bf16. p's error grows by
/// (|loss| + 2 |loss + x(target)|) 2^-24 of it. A target whose logit is -infinity makes its row
/// NaN.
/// @param logits  contiguous rows; the same for out
/// @param losses  (...), cross_entropy_cuda()'s result for these logits; not overlapping out
template <class T>
void cross_entropy_backward_from_losses_cuda(const View<const float>& logits,
                                             const View<const std::int64_t>& targets,
                                             const View<const float>& losses,
                                             const View<const float>& grad, const View<T>& out,
                                             gpu::Stream stream = {});
void check_cross_entropy_backward(const View<const float>& logits,
                                  const View<const std::int64_t>& targets,
                                  const View<const float>& grad, const View<float>& out,
                                  std::optional<CrossEntropyBackwardPath> path = {});
/// cross_entropy_backward_cpu(), rounded to bf16: the operand of the product with the head's weights.
/// @param logits  contiguous rows; the same for out, which overlaps no input
void cross_entropy_backward_bf16_cpu(View<const float> logits, View<const std::int64_t> targets,
                                     View<const float> grad, View<bf16> out);
void check_cross_entropy_backward_bf16(const View<const float>& logits,
                                       const View<const std::int64_t>& targets,
                                       const View<const float>& grad, const View<bf16>& out);
template <class T>
void check_cross_entropy_backward_from_losses(const View<const float>& logits,
                                              const View<const std::int64_t>& targets,
                                              const View<const float>& losses,
                                              const View<const float>& grad, const View<T>& out);
/// The path that cross_entropy_backward_cuda() takes without one in gpu::Launch: block_per_row if
/// rows of both views are contiguous, else row_per_thread.
[[nodiscard]] CrossEntropyBackwardPath choose_cross_entropy_backward(
    const View<const float>& logits, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
