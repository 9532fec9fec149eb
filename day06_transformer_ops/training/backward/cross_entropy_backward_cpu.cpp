// The CPU reference.
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"

#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [cross_entropy_backward]
template <class T>
void cross_entropy_backward_loop(const Rows<const float>& logits, View<const std::int64_t> targets,
                                 View<const float> grad, const Rows<T>& out) {
    for (std::int64_t r = 0; r < logits.count(); ++r) {
        const Index at = unravel(r, targets.shape());
        const Row<const float> x = logits.row(r);
        const Row<T> y = out.row(r);
        const std::int64_t target = targets(at);
        const float g = grad(at);
        const float m = largest_of(x, logits.length);
        const float sum = sum_of_exp(x, logits.length, m);
        for (std::int64_t j = 0; j < logits.length; ++j) {
            const float p = std::exp(x[j] - m) / sum;
            y[j] = T(g * (j == target ? p - 1 : p));
        }
    }
}
// [cross_entropy_backward]

}  // namespace

template <class T>
void cross_entropy_backward_cpu(View<const float> logits, View<const std::int64_t> targets,
                                View<const float> grad, View<T> out, View<const float> losses) {
    const auto plan = plan_cross_entropy_backward(logits, targets, grad, out, losses);
    check_targets(targets, plan.logits.length);
    cross_entropy_backward_loop(plan.logits, targets, plan.grad, plan.out);
}
template void cross_entropy_backward_cpu(View<const float>, View<const std::int64_t>,
                                         View<const float>, View<float>, View<const float>);
template void cross_entropy_backward_cpu(View<const float>, View<const std::int64_t>,
                                         View<const float>, View<bf16>, View<const float>);

}  // namespace sixdays::day06_transformer_ops
