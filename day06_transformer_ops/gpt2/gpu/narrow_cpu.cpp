// The CPU references: GELU or a norm, if requested, then rounding to the nearest T.
#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

namespace sixdays::gpt2 {
namespace {

template <class T>
void narrow_loop(View<const float> in, View<T> out, Before before) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        const float x = in(at);
        out(at) = T(before == Before::gelu ? day06_transformer_ops::gelu_tanh(x) : x);
    }
}

}  // namespace

template <class T>
void narrow_cpu(View<const float> in, View<T> out, Before before) {
    check_narrow(in, out);
    narrow_loop(in, out, before);
}

template <class T>
void norm_narrow_cpu(View<const float> in, const day06_transformer_ops::NormParameters& parameters,
                     View<T> out) {
    check_norm_narrow(in, parameters, out);
    Tensor<float> normed(in.shape());
    day06_transformer_ops::layer_norm_cpu(in, parameters, normed.view());
    narrow_loop<T>(normed.view(), out, Before::nothing);
}

template void narrow_cpu(View<const float>, View<bf16>, Before);
template void narrow_cpu(View<const float>, View<f16>, Before);
template void norm_narrow_cpu(View<const float>, const day06_transformer_ops::NormParameters&,
                              View<bf16>);
template void norm_narrow_cpu(View<const float>, const day06_transformer_ops::NormParameters&,
                              View<f16>);

}  // namespace sixdays::gpt2
