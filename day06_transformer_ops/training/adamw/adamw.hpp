/// @file
/// One optimizer step: AdamW, and clipping by the global norm, which limits the effect of a single
/// unusual batch.
///
///     g      = gradient * min(1, most / norm)               clipped; norm is that of all gradients
///     first  = beta1 * first  + (1 - beta1) * g               running mean of the gradient
///     second = beta2 * second + (1 - beta2) * g^2             running mean of its square
///     p      = p - rate * decay * p                         decoupled weight decay: the W in AdamW
///     p      = p - rate * (first / c1) / (sqrt(second / c2) + eps)      c = 1 - beta^step
///
/// A norm that is NaN makes every parameter NaN, as in PyTorch's clip_grad_norm_(), so that a NaN
/// in one gradient is noticed everywhere. An infinite norm makes g 0 where the gradient is finite,
/// else NaN.
///
/// Both averages start at 0, so they are too small at first; c1 and c2 correct this bias. (Kingma
/// and Ba 2014, arXiv 1412.6980; Loshchilov and Hutter 2017, arXiv 1711.05101.) One pass: four
/// numbers are read and three written for each parameter, and nothing is computed twice.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// What a step depends on beside the gradient.
struct AdamWOptions {
    float rate = 1e-3f;                  // learning rate
    float beta1 = 0.9f, beta2 = 0.999f;  // of the running means of g and g^2
    float eps = 1e-8f;                   // added to the root
    float decay = 0;                     // usually 0.1 for matrices, 0 for norms and biases
    std::int64_t step = 1;               // counted from 1
    float most = 0;                      // largest norm; 0: no clipping
    View<const double> norm = {};        // gradient_norm()'s result, rank 0; CUDA: in device memory
};

/// Derived from the options, the same for all parameters.
struct AdamWNumbers {
    float rate, beta1, beta2, eps, kept;  // as in the options; kept: what decay leaves
    float rate1, root2;                   // rate / c1; sqrt(c2)
    float most;                           // as in the options
    View<const double> norm;              // as in the options

    /// The factor of the gradients. A NaN fails the comparison with `most`.
    SIXDAYS_HD float clip() const noexcept {
        if (most == 0 || norm() <= double{most}) return 1;
        return static_cast<float>(double{most} / norm());
    }
};
/// The numbers of a step. The options are not checked.
[[nodiscard]] AdamWNumbers adamw_numbers(const AdamWOptions& options);

/// One step of AdamW (Kingma and Ba 2014, arXiv 1412.6980; Loshchilov and Hutter 2017, arXiv
/// 1711.05101), with clipping by the global norm:
///
///     g      = gradient * min(1, most / norm)
///     first  = beta1 * first  + (1 - beta1) * g
///     second = beta2 * second + (1 - beta2) * g^2
///     p      = p - rate * decay * p
///     p      = p - rate * (first / c1) / (sqrt(second / c2) + eps)      c = 1 - beta^step
///
/// @param gradient, first, second, parameters  the same shape and strides, each dense
/// (row-major or in any other order), not overlapping each other or the norm; the last three are
/// read and written
/// @param rounded  optional, the same layout: receives the new parameters rounded to bf16, for
/// products. They are never read here: the master weights are floats, because a step often adds
/// less than a bf16 can represent
/// @throws std::invalid_argument  shapes or strides that differ, strides with gaps, a null pointer,
/// overlap; options outside of 0 <= beta < 1 and step >= 1; rate, decay, eps or most negative or not
/// finite; clipping without a norm
void adamw_cpu(const AdamWOptions& options, View<const float> gradient, View<float> first,
               View<float> second, View<float> parameters, View<bf16> rounded = {});
void adamw_cuda(const AdamWOptions& options, View<const float> gradient, View<float> first,
                View<float> second, View<float> parameters, View<bf16> rounded = {},
                gpu::Stream stream = {});
void check_adamw(const AdamWOptions& options, const View<const float>& gradient,
                 const View<float>& first, const View<float>& second, const View<float>& parameters,
                 const View<bf16>& rounded = {});

/// out = the root of the sum of squares, added up in double. The kernel's blocks sum their parts,
/// and one block sums the blocks, always in the same order: the same bits in every run.
/// @param gradient  dense, in any order
/// @param out       rank 0
/// @throws std::invalid_argument  strides with gaps, another rank of out, a null pointer, overlap;
/// CUDA: too small a workspace
void gradient_norm_cpu(View<const float> gradient, View<double> out);
void gradient_norm_cuda(View<const float> gradient, View<double> out, gpu::Workspace workspace,
                        gpu::Stream stream = {});
[[nodiscard]] std::int64_t gradient_norm_workspace_bytes();
void check_gradient_norm(const View<const float>& gradient, const View<double>& out);

/// Number of blocks that compute partial sums, for any number of elements.
inline constexpr int kNormBlocks = 256;

/// The rate of each step: linear warmup, then cosine decay.
struct Schedule {
    double most = 1e-3, least = 1e-4;     // the rate after the warmup; the last one
    std::int64_t warm_up = 0, steps = 1;  // steps of the warmup; all steps
};
/// The rate of a step. @param step  counted from 0; from `steps` on the rate is `least`
[[nodiscard]] double rate_at(const Schedule& schedule, std::int64_t step);

}  // namespace sixdays::day06_transformer_ops
