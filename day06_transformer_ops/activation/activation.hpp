/// @file
/// Activations make a network more than one large matrix product. Each element becomes f(x), where
/// f is not linear:
///
///     relu        0 below 0, else x
///     gelu_erf    x * P(a normal variable < x) = x/2 * erfc(-x / sqrt(2))
///     gelu_tanh   x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3). GPT-2 was trained with
///                 this form; the two GELUs differ by up to 5e-4
///     silu        x / (1 + exp(-x)); also called swish
///
/// (GELU: Hendrycks and Gimpel 2016, arXiv 1606.08415, both forms. SiLU: Elfwing et al. 2017,
/// arXiv 1702.03118.)
///
/// Two common forms cancel digits where x is far below 0: 1 + erf(x / sqrt(2)) and 1 + tanh(u)
/// subtract two nearly equal numbers. So gelu_erf uses erfc, and 1 + tanh(u) becomes
/// 2 / (1 + exp(-2u)), which gives gelu_tanh the form of silu: x / (1 + exp(-2u)).
///
/// For all versions: T is float or bf16; arithmetic is float. NaN and +infinity propagate.
/// -infinity gives 0 with relu and NaN with the others, as in PyTorch: their formulas multiply
/// infinity by 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions. Vectors (128-bit accesses) need an innermost dimension that is
/// contiguous in all tensors, made of whole vectors, and aligned to 16 bytes in every row.
enum class ActivationPath {
    one_element,  // one thread per element: the twin
    vectorized,   // 02: 128-bit loads, and functions of few instructions
    tile,         // only on request: CUDA Tile C++; at most 4 dimensions, no negative strides
};
[[nodiscard]] const char* name(ActivationPath path);

/// The function that is applied to each element.
enum class Activation {
    relu,      // 0 below 0, else x
    gelu_erf,  // x/2 * erfc(-x / sqrt(2)): x times the probability that a normal variable is below x
    gelu_tanh,  // x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))): GPT-2's; up to 5e-4 from gelu_erf
    silu        // x / (1 + exp(-x)); also called swish
};
[[nodiscard]] const char* name(Activation what);
/// All of them: what tests and benchmarks go through.
inline constexpr Activation kActivations[] = {Activation::relu, Activation::gelu_erf,
                                              Activation::gelu_tanh, Activation::silu};

// [functions]
/// 0 below 0, else x.
SIXDAYS_HD inline float relu(float x) noexcept {
    return x < 0 ? 0 : x;  // not max(x, 0), which would hide a NaN
}
/// x/2 * erfc(-x / sqrt(2)) (Hendrycks and Gimpel 2016, arXiv 1606.08415).
SIXDAYS_HD inline float gelu_erf(float x) noexcept {
    return 0.5f * x * std::erfc(x * -0.70710678f);
}
/// x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3), in a form that cancels no digits
/// (arXiv 1606.08415).
SIXDAYS_HD inline float gelu_tanh(float x) noexcept {
    const float u = 0.79788456f * (x + 0.044715f * x * x * x);
    return x / (1 + std::exp(-2 * u));
}
// [functions]
/// x / (1 + exp(-x)) (Elfwing et al. 2017, arXiv 1702.03118).
SIXDAYS_HD inline float silu(float x) noexcept {
    return x / (1 + std::exp(-x));
}
/// f(x), of any of them.
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

/// out = f(in), elementwise; Activation has the formulas. T is float or bf16; arithmetic is float.
/// Error: 16 units of 2^-24 |y|. Where x is below 0, rounding the argument of exp or erfc adds an
/// error that grows with it: 3 |x| units for silu, 2 x^2 for gelu_erf, 14 |u| for gelu_tanh. For
/// tiny y add 3e-37; a gate or a bf16 adds its own rounding. relu is exact.
/// @param in   any shape and strides
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  other shapes, out not injective, a null pointer, overlap
template <class T>
void activate_cpu(Activation what, View<const Same<T>> in, View<T> out);
template <class T>
void activate_cuda(Activation what, View<const Same<T>> in, View<T> out,
                   const gpu::Launch<ActivationPath>& how = {});

/// out = f(in + bias): fused, one pass over memory instead of two.
/// Error: activate_cpu()'s.
/// @param in    any shape and strides
/// @param bias  broadcast to in's shape: (C) for rows of C
/// @param out   in's shape, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap
template <class T>
void activate_biased_cpu(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                         View<T> out);
template <class T>
void activate_biased_cuda(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                          View<T> out, const gpu::Launch<ActivationPath>& how = {});

/// out = f(gate) * in. With silu this is SwiGLU, with a GELU it is GeGLU: one half of a layer's
/// outputs gates the other half (Shazeer 2020, arXiv 2002.05202). `gate` and `in` are often slices
/// of one tensor, and `out` may be `gate` or `in`. But if these two are halves of one tensor's
/// rows, their rows are interleaved, and an `out` in either is rejected as an overlap: give it
/// separate memory.
/// Error: activate_cpu()'s.
/// @param gate, in  the same shape, any strides
/// @param out       that shape, injective
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap
template <class T>
void activate_gated_cpu(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                        View<T> out);
template <class T>
void activate_gated_cuda(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                         View<T> out, const gpu::Launch<ActivationPath>& how = {});

/// Rejects invalid arguments; with a path, also views that the path does not support.
template <class T>
void check_activate(const View<const Same<T>>& in, const View<T>& out,
                    std::optional<ActivationPath> path = {});
template <class T>
void check_activate_biased(const View<const Same<T>>& in, const View<const Same<T>>& bias,
                           const View<T>& out, std::optional<ActivationPath> path = {});
template <class T>
void check_activate_gated(const View<const Same<T>>& gate, const View<const Same<T>>& in,
                          const View<T>& out, std::optional<ActivationPath> path = {});

/// The path that activations take without one in gpu::Launch: `vectorized` if all three views suit
/// 128-bit loads after simplify(), else one_element. For valid views.
/// @param more  bias or gate; `in` again if there is none
template <class T>
[[nodiscard]] ActivationPath choose_activation(const View<const Same<T>>& in,
                                               const View<const Same<T>>& more, const View<T>& out);

}  // namespace sixdays::day06_transformer_ops
