// The plain loop.
#include "day06_transformer_ops/training/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [activate_backward]
void activate_backward_loop(Activation what, View<const float> in, View<const float> grad,
                            View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = grad(at) * slope(what, in(at));
    }
}
// [activate_backward]

}  // namespace

void activate_backward_cpu(Activation what, View<const float> in, View<const float> grad,
                           View<float> out) {
    check_activate_backward(in, grad, out);
    activate_backward_loop(what, in, grad, out);
}

}  // namespace sixdays::day06_transformer_ops
