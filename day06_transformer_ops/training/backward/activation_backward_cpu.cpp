// The CPU reference.
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void activate_backward_loop(Activation what, View<const float> in, View<const float> grad,
                            View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = grad(at) * slope(what, in(at));
    }
}

void activate_gated_backward_loop(Activation what, View<const float> gate, View<const float> in,
                                  View<const float> grad, View<float> d_gate, View<float> d_in) {
    for (std::int64_t k = 0; k < gate.size(); ++k) {
        const Index at = unravel(k, gate.shape());
        const float g = grad(at), x = in(at);
        d_gate(at) = g * x * slope(what, gate(at));
        d_in(at) = g * activated(what, gate(at));
    }
}

}  // namespace

void activate_backward_cpu(Activation what, View<const float> in, View<const float> grad,
                           View<float> out) {
    require_known("activate_backward", "activation", what);
    check_activate_backward(in, grad, out);
    activate_backward_loop(what, in, grad, out);
}

void activate_gated_backward_cpu(Activation what, View<const float> gate, View<const float> in,
                                 View<const float> grad, View<float> d_gate, View<float> d_in) {
    require_known("activate_gated_backward", "activation", what);
    check_activate_gated_backward(gate, in, grad, d_gate, d_in);
    activate_gated_backward_loop(what, gate, in, grad, d_gate, d_in);
}

}  // namespace sixdays::day06_transformer_ops
