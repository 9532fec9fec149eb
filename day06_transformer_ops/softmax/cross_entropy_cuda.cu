// The twin, one thread per row, and the launcher. Faster versions are in steps/.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/cross_entropy_tile.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void cross_entropy_kernel(const __grid_constant__ Rows<const T> logits,
                                     const __grid_constant__ View<const std::int64_t> targets,
                                     const __grid_constant__ View<float> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < logits.count()) {
        const Index at = unravel(r, out.shape());
        const Row<const T> x = logits.row(r);
        const std::int64_t target = targets(at);
        const bool known = 0 <= target && target < logits.length;
        const float m = largest_of(x, logits.length);
        const float sum = sum_of_exp(x, logits.length, m);
        out(at) = known ? std::log(sum) - (float(x[target]) - m) : NAN;
    }
}

}  // namespace

template <class T>
void cross_entropy_cuda(View<const T> logits, View<const std::int64_t> targets, View<float> out,
                        const gpu::Launch<CrossEntropyPath>& how) {
    const CrossEntropyPlan<T> plan = plan_cross_entropy<T>(logits, targets, out, how);
    if (out.size() == 0) return;
    switch (plan.path) {
        case CrossEntropyPath::thread_per_row: {
            const unsigned grid = gpu::blocks_for(plan.logits.count(), kThreads);
            cross_entropy_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.logits, targets, out);
            return gpu::check_launch("cross_entropy_kernel", grid, kThreads);
        }
        case CrossEntropyPath::block_per_row:
            return launch_cross_entropy(plan.logits, targets, out, how.stream);
        case CrossEntropyPath::tile:
            return gpu::by_tile("cross_entropy",
                                [&] { launch_cross_entropy_tile(plan, how.stream); });
    }
}

template void cross_entropy_cuda(View<const float>, View<const std::int64_t>, View<float>,
                                 const gpu::Launch<CrossEntropyPath>&);
template void cross_entropy_cuda(View<const bf16>, View<const std::int64_t>, View<float>,
                                 const gpu::Launch<CrossEntropyPath>&);

}  // namespace sixdays::day06_transformer_ops
