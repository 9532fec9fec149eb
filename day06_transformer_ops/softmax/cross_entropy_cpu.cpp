// The CPU reference.
#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [cross_entropy]
template <class T>
void cross_entropy_loop(const Rows<const T>& logits, View<const std::int64_t> targets,
                        View<float> out) {
    for (std::int64_t r = 0; r < logits.count(); ++r) {
        const Index at = unravel(r, out.shape());
        const Row<const T> x = logits.row(r);
        const std::int64_t target = targets(at);
        const float m = largest_of(x, logits.length);
        const float sum = sum_of_exp(x, logits.length, m);
        out(at) = std::log(sum) - (float(x[target]) - m);
    }
}
// [cross_entropy]

}  // namespace

template <class T>
void cross_entropy_cpu(View<const T> logits, View<const std::int64_t> targets, View<float> out) {
    const CrossEntropyPlan<T> plan = plan_cross_entropy<T>(logits, targets, out);
    check_targets(targets, plan.logits.length);
    cross_entropy_loop(plan.logits, targets, out);
}

template void cross_entropy_cpu(View<const float>, View<const std::int64_t>, View<float>);
template void cross_entropy_cpu(View<const bf16>, View<const std::int64_t>, View<float>);

}  // namespace sixdays::day06_transformer_ops
