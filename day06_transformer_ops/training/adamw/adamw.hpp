/// @file
/// One step downhill: AdamW, and the global norm that keeps a single wild batch from throwing the
/// model out of the valley.
///
///     g      = gradient * min(1, most / norm)               clipped; norm is that of all gradients
///     first  = beta1 * first  + (1 - beta1) * g               the way it has been going
///     second = beta2 * second + (1 - beta2) * g^2             how wild it has been
///     p      = p - rate * decay * p                         not in the gradient: the W in AdamW
///     p      = p - rate * (first / c1) / (sqrt(second / c2) + eps)      c = 1 - beta^step
///
/// A norm that is NaN makes everything NaN, as PyTorch's clip_grad_norm_() does: a step from
/// gradients of which one is NaN is none, and shows in every number instead of in some. An infinite
/// norm makes g 0 where the gradient is finite, else NaN.
///
/// Both averages begin at 0, so they are too small at first, and c1 and c2 make up for it. (Kingma
/// and Ba 2014, arXiv 1412.6980; Loshchilov and Hutter 2017, arXiv 1711.05101.) One pass: four
/// numbers are read and three written for each parameter, and nothing is computed twice.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

struct AdamWOptions {
    float rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f;
    float eps = 1e-8f;
    float decay = 0;               // matrices mostly have 0.1; norms and biases are left alone
    std::int64_t step = 1;         // counted from 1
    float most = 0;                // of the norm; 0: nothing is clipped
    View<const double> norm = {};  // gradient_norm()'s answer, rank 0; for a port in device memory
};

/// What of the options is the same for all parameters.
struct AdamWNumbers {
    float rate, beta1, beta2, eps, kept;  // kept: what decay leaves of a parameter
    float rate1, root2;                   // rate / c1, sqrt(c2)
    float most;
    View<const double> norm;

    /// By what a gradient is multiplied. A NaN is no number that is at most `most`.
    SIXDAYS_HD float clip() const noexcept {
        if (most == 0 || norm() <= double{most}) return 1;
        return static_cast<float>(double{most} / norm());
    }
};
[[nodiscard]] AdamWNumbers adamw_numbers(const AdamWOptions& options);

/// @param gradient, first, second, parameters  of one shape and the same strides, each one run of
/// elements (row-major or in any other order), apart from each other and from the norm; the last
/// three are read and written
/// @param rounded  the same, if asked for: the new parameters once more, for products that take
/// bf16. They are rounded from what was stored, and never read here: what learns are the floats, to
/// which a step adds less than a bf16 can tell
/// @throws std::invalid_argument  shapes or strides that differ, strides with gaps, a null pointer,
/// overlap; options outside of 0 <= beta < 1, step >= 1, or rate, decay, eps and most that are not finite or
/// below 0; clipping without a norm
void adamw_cpu(const AdamWOptions& options, View<const float> gradient, View<float> first,
               View<float> second, View<float> parameters, View<bf16> rounded = {});
void adamw_cuda(const AdamWOptions& options, View<const float> gradient, View<float> first,
                View<float> second, View<float> parameters, View<bf16> rounded = {},
                gpu::Stream stream = {});
void check_adamw(const AdamWOptions& options, const View<const float>& gradient,
                 const View<float>& first, const View<float>& second, const View<float>& parameters,
                 const View<bf16>& rounded = {});

/// out = the root of the sum of squares, added up in double. The port's blocks add their parts up,
/// and one block adds up the blocks, always in the same order: the same bits in every run.
/// @param gradient  one run of elements, in any order
/// @param out       rank 0
/// @throws std::invalid_argument  strides with gaps, another rank of out, a null pointer, overlap;
/// the port: too small a workspace
void gradient_norm_cpu(View<const float> gradient, View<double> out);
void gradient_norm_cuda(View<const float> gradient, View<double> out, gpu::Workspace workspace,
                        gpu::Stream stream = {});
[[nodiscard]] std::int64_t gradient_norm_workspace_bytes();
void check_gradient_norm(const View<const float>& gradient, const View<double>& out);

/// Blocks whose parts are added up, however many elements there are.
inline constexpr int kNormBlocks = 256;

/// The rate of each step: up in a line, then down along half a cosine.
struct Schedule {
    double most = 1e-3, least = 1e-4;
    std::int64_t warm_up = 0, steps = 1;
};
/// @param step  counted from 0; from `steps` on the rate is `least`
[[nodiscard]] double rate_at(const Schedule& schedule, std::int64_t step);

}  // namespace sixdays::day06_transformer_ops
