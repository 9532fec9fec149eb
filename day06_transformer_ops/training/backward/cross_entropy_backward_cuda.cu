// The twin, one thread per row, and the launcher.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void cross_entropy_backward_kernel(
    const __grid_constant__ Rows<const float> logits,
    const __grid_constant__ View<const std::int64_t> targets,
    const __grid_constant__ View<const float> grad, const __grid_constant__ Rows<float> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < logits.count()) {
        const Index at = unravel(r, targets.shape());
        const Row<const float> x = logits.row(r);
        const Row<float> y = out.row(r);
        const std::int64_t target = targets(at);
        const bool known = 0 <= target && target < logits.length;
        const float g = known ? grad(at) : NAN;
        const float m = largest_of(x, logits.length);
        const float sum = sum_of_exp(x, logits.length, m);
        for (std::int64_t j = 0; j < logits.length; ++j) {
            const float p = std::exp(x[j] - m) / sum;
            y[j] = g * (j == target ? p - 1 : p);
        }
    }
}

}  // namespace

template <class T>
void cross_entropy_backward_cuda(View<const float> logits, View<const std::int64_t> targets,
                                 View<const float> grad, View<T> out, View<const float> losses,
                                 const gpu::Launch<CrossEntropyBackwardPath>& how) {
    const auto plan = plan_cross_entropy_backward(logits, targets, grad, out, losses, how);
    if (out.size() == 0) return;
    switch (plan.path) {
        case CrossEntropyBackwardPath::row_per_thread:
            if constexpr (std::is_same_v<T, float>) {
                const unsigned grid = gpu::blocks_for(plan.logits.count(), kThreads);
                cross_entropy_backward_kernel<<<grid, kThreads, 0, how.stream>>>(
                    plan.logits, targets, plan.grad, plan.out);
                gpu::check_launch("cross_entropy_backward_kernel", grid, kThreads);
            }
            return;
        case CrossEntropyBackwardPath::block_per_row:
            return launch_cross_entropy_backward_block(plan.logits, targets, losses, plan.grad,
                                                       plan.out, how.stream);
    }
}
#define SIXDAYS_FOR(T)                                                                       \
    template void cross_entropy_backward_cuda(View<const float>, View<const std::int64_t>,   \
                                              View<const float>, View<T>, View<const float>, \
                                              const gpu::Launch<CrossEntropyBackwardPath>&);
SIXDAYS_FOR(float)
SIXDAYS_FOR(bf16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day06_transformer_ops
