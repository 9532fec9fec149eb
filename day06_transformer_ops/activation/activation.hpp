/// @file
/// Activations: what makes a network more than one large matrix. Each element by itself becomes
/// f(x), and f is no straight line:
///
///     relu        0 below 0, else x
///     gelu_erf    x * P(a normal variable < x) = x/2 * erfc(-x / sqrt(2))
///     gelu_tanh   x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3); what GPT-2 was trained
///                 with. Up to 5e-4 away from gelu_erf: two functions, not one computed twice
///     silu        x / (1 + exp(-x)); called swish too
///
/// (GELU: Hendrycks and Gimpel 2016, arXiv 1606.08415, both forms. SiLU: Elfwing and others 2017,
/// arXiv 1702.03118.)
///
/// Two ways of writing them lose digits where x is far below 0: 1 + erf(x / sqrt(2)) and
/// 1 + tanh(u) subtract two numbers that are nearly equal. So erfc is used, and 1 + tanh(u) is
/// 2 / (1 + exp(-2u)), which makes gelu_tanh a sister of silu: x / (1 + exp(-2u)).
///
/// For all versions: any strides, `out` injective; an input may be `out` itself where the shape is
/// the same. T is float or bf16; arithmetic is float. NaN stays NaN and +infinity stays; -infinity
/// becomes 0 by relu, and NaN by the others, as in PyTorch: their formulas say infinity times 0.
/// Error: 16 units of 2^-24 |y|. Where x is below 0 the argument of exp or erfc was rounded, which
/// is worth more the larger it is: 3 |x| units more of silu, 2 x^2 of gelu_erf, 14 |u| of
/// gelu_tanh. And 3e-37 where y is as small; a gate or a bf16 costs the rounding of it. relu is
/// exact.
/// @throws std::invalid_argument  shapes that do not fit, out not injective, a null pointer,
/// overlap
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of the activations. Quads are possible where the innermost dim of all tensors lies
/// along memory, is made of whole quads, and begins at a multiple of 16 bytes in every row.
enum class ActivationPath {
    one_element,  // a thread, an element: the loop's twin
    quads,        // 02: 16 bytes a load, and functions of few instructions
    tile,         // never chosen unasked: CUDA Tile C++; 4 dims at most, no negative strides
};
[[nodiscard]] const char* name(ActivationPath path);

enum class Activation { relu, gelu_erf, gelu_tanh, silu };
[[nodiscard]] const char* name(Activation what);

// [functions]
SIXDAYS_HD inline float relu(float x) noexcept {
    return x < 0 ? 0 : x;  // not max(x, 0), which would hide a NaN
}
SIXDAYS_HD inline float gelu_erf(float x) noexcept {
    return 0.5f * x * std::erfc(x * -0.70710678f);
}
SIXDAYS_HD inline float gelu_tanh(float x) noexcept {
    const float u = 0.79788456f * (x + 0.044715f * x * x * x);
    return x / (1 + std::exp(-2 * u));
}
// [functions]
SIXDAYS_HD inline float silu(float x) noexcept {
    return x / (1 + std::exp(-x));
}
SIXDAYS_HD inline float activated(Activation what, float x) noexcept {
    switch (what) {
        case Activation::relu:
            return relu(x);
        case Activation::gelu_erf:
            return gelu_erf(x);
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        case Activation::silu:
            return silu(x);
    }
    return x;
}

/// out = f(in).
template <class T>
void activate_cpu(Activation what, View<const Same<T>> in, View<T> out);
template <class T>
void activate_cuda(Activation what, View<const Same<T>> in, View<T> out,
                   const gpu::Launch<ActivationPath>& how = {});

/// out = f(in + bias): one pass over memory where two operations need two.
/// @param bias  broadcast to in's shape: (C) for rows of C
template <class T>
void activate_biased_cpu(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                         View<T> out);
template <class T>
void activate_biased_cuda(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                          View<T> out, const gpu::Launch<ActivationPath>& how = {});

/// out = f(gate) * in. With silu this is SwiGLU, with a GELU GeGLU: one half of a layer's outputs
/// says how much of the other half gets through (Shazeer 2020, arXiv 2002.05202). `gate` and `in`
/// are often slices of one tensor, and `out` may be `gate` or `in`. But where these two are halves
/// of one tensor's rows, the rows of one lie between those of the other, and an `out` in either is
/// refused as an overlap: give it memory of its own.
/// @param gate  of in's shape
template <class T>
void activate_gated_cpu(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                        View<T> out);
template <class T>
void activate_gated_cuda(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                         View<T> out, const gpu::Launch<ActivationPath>& how = {});

/// What the operations refuse; with a path also what that path cannot take.
template <class T>
void check_activate(const View<const Same<T>>& in, const View<T>& out,
                    std::optional<ActivationPath> path = {});
template <class T>
void check_activate_biased(const View<const Same<T>>& in, const View<const Same<T>>& bias,
                           const View<T>& out, std::optional<ActivationPath> path = {});
template <class T>
void check_activate_gated(const View<const Same<T>>& gate, const View<const Same<T>>& in,
                          const View<T>& out, std::optional<ActivationPath> path = {});

/// The best path for views that were not refused. @param more  bias or gate; `in` again if there is
/// none
template <class T>
[[nodiscard]] ActivationPath choose_activation(const View<const Same<T>>& in,
                                               const View<const Same<T>>& more, const View<T>& out);

}  // namespace sixdays::day06_transformer_ops
