/// @file
/// An activation's backward pass. The function is elementwise, so each gradient is multiplied by
/// the derivative of the function at its element.
///
///     relu       1 above 0, else 0 (at 0 itself too, as in PyTorch)
///     gelu_erf   P + x p              P: normal distribution function at x; p: its density
///     gelu_tanh  s + x s (1 - s) 2u'  s = 1 / (1 + exp(-2u))
///                                     u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2)
///     silu       s + x s (1 - s)      s = 1 / (1 + exp(-x))
///
/// By the product rule, the first term is the factor of x, and the second is x times its
/// derivative. Far from 0 the second vanishes, and the slope is its limit, 1 or 0; at infinity too.
#pragma once

#include "day06_transformer_ops/activation/activation.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths are those of the forward pass.
using ActivationBackwardPath = ActivationPath;

/// s + x s (1 - s) dv, s = 1 / (1 + exp(-v)): the slope of x * s, where v depends on x.
/// 1 - s is computed as 1 / (1 + exp(v)), because 1 - s would cancel digits.
SIXDAYS_HD inline float slope_of_gate(float x, float v, float dv) noexcept {
    const float s = 1 / (1 + std::exp(-v)), rest = 1 / (1 + std::exp(v));
    if (s * rest == 0) return s;  // flat: x dv may be infinite, and 0 times it is NaN
    return s + x * s * rest * dv;
}
/// The derivative of an activation at x.
SIXDAYS_HD inline float slope(Activation what, float x) noexcept {
    switch (what) {
        case Activation::relu:
            return x > 0 ? 1.0f : x <= 0 ? 0.0f : x;  // NaN propagates
        case Activation::gelu_erf: {
            const float density = std::exp(-0.5f * x * x);
            return 0.5f * std::erfc(x * -0.70710678f) +
                   (density == 0 ? 0 : x * 0.39894228f * density);
        }
        case Activation::gelu_tanh:
            return slope_of_gate(x, 1.5957691f * (x + 0.044715f * x * x * x),
                                 1.5957691f * (1 + 0.134145f * x * x));
        case Activation::silu:
            return slope_of_gate(x, x, 1);
    }
    return x;
}

/// out = grad * f'(in): the gradient of an activation's input. T is float or bf16; arithmetic is
/// float.
/// @param in    any shape and strides: the input of the activation
/// @param grad  shape of in
/// @param out   shape of in, injective; may be `in` or `grad` itself
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap
template <class T>
void activate_backward_cpu(Activation what, View<const Same<T>> in, View<const Same<T>> grad,
                           View<T> out);
template <class T>
void activate_backward_cuda(Activation what, View<const Same<T>> in, View<const Same<T>> grad,
                            View<T> out, const gpu::Launch<ActivationBackwardPath>& how = {});
/// The backward pass of out = f(gate) * in; with silu this is SwiGLU's. Each factor's gradient is
/// multiplied by the other factor:
///
///     d_gate = grad * in * f'(gate)        d_in = grad * f(gate)
///
/// @param gate, in, grad  the same shape, any strides; may be halves of one tensor's rows
/// @param d_gate, d_in    the same shape, injective, overlapping no input; may be halves of one
/// tensor's rows
/// @throws std::invalid_argument  shapes that do not match, an output that is not injective, a null
/// pointer, overlap
void activate_gated_backward_cpu(Activation what, View<const float> gate, View<const float> in,
                                 View<const float> grad, View<float> d_gate, View<float> d_in);
void activate_gated_backward_cuda(Activation what, View<const float> gate, View<const float> in,
                                  View<const float> grad, View<float> d_gate, View<float> d_in,
                                  gpu::Stream stream = {});
void check_activate_gated_backward(const View<const float>& gate, const View<const float>& in,
                                   const View<const float>& grad, const View<float>& d_gate,
                                   const View<float>& d_in);

template <class T>
void check_activate_backward(const View<const Same<T>>& in, const View<const Same<T>>& grad,
                             const View<T>& out, std::optional<ActivationBackwardPath> path = {});

}  // namespace sixdays::day06_transformer_ops
