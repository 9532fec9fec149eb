// The CPU reference.
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class T>
void activate_backward_loop(Activation what, View<const T> in, View<const T> grad, View<T> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = T(float(grad(at)) * slope(what, float(in(at))));
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

template <class T>
void activate_backward_cpu(Activation what, View<const Same<T>> in, View<const Same<T>> grad,
                           View<T> out) {
    require_known("activate_backward", "activation", what);
    check_activate_backward(in, grad, out);
    activate_backward_loop(what, in, grad, out);
}
template void activate_backward_cpu(Activation, View<const float>, View<const float>, View<float>);
template void activate_backward_cpu(Activation, View<const bf16>, View<const bf16>, View<bf16>);

void activate_gated_backward_cpu(Activation what, View<const float> gate, View<const float> in,
                                 View<const float> grad, View<float> d_gate, View<float> d_in) {
    require_known("activate_gated_backward", "activation", what);
    check_activate_gated_backward(gate, in, grad, d_gate, d_in);
    activate_gated_backward_loop(what, gate, in, grad, d_gate, d_in);
}

}  // namespace sixdays::day06_transformer_ops
