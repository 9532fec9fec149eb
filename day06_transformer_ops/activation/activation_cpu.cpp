// The CPU references.
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/activation/activation.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class T>
void activate_loop(Activation what, View<const T> in, View<T> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(in(at))));
    }
}

template <class T>
void activate_biased_loop(Activation what, View<const T> in, View<const T> bias, View<T> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(in(at)) + float(bias(at))));
    }
}

template <class T>
void activate_gated_loop(Activation what, View<const T> gate, View<const T> in, View<T> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(gate(at))) * float(in(at)));
    }
}

}  // namespace

template <class T>
void activate_cpu(Activation what, View<const Same<T>> in, View<T> out) {
    require_known("activate", "activation", what);
    check_activate<T>(in, out);
    activate_loop<T>(what, in, out);
}

template <class T>
void activate_biased_cpu(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                         View<T> out) {
    require_known("activate_biased", "activation", what);
    check_activate_biased<T>(in, bias, out);
    activate_biased_loop<T>(what, in, View<const T>(broadcast_to(bias, out.shape())), out);
}

template <class T>
void activate_gated_cpu(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                        View<T> out) {
    require_known("activate_gated", "activation", what);
    check_activate_gated<T>(gate, in, out);
    activate_gated_loop<T>(what, gate, in, out);
}

template void activate_cpu(Activation, View<const float>, View<float>);
template void activate_biased_cpu(Activation, View<const float>, View<const float>, View<float>);
template void activate_gated_cpu(Activation, View<const float>, View<const float>, View<float>);
template void activate_cpu(Activation, View<const bf16>, View<bf16>);
template void activate_biased_cpu(Activation, View<const bf16>, View<const bf16>, View<bf16>);
template void activate_gated_cpu(Activation, View<const bf16>, View<const bf16>, View<bf16>);

}  // namespace sixdays::day06_transformer_ops
