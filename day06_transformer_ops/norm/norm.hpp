/// @file
/// Norms: every token's vector is brought to the same size, so that no block of a network has to
/// know how large the numbers are that the one before it makes.
///
///     layer norm   z(i) = (x(i) - mean) / sqrt(variance + eps)     mean of x, mean of (x - mean)^2
///     RMS norm     z(i) = x(i) / sqrt(mean of x^2 + eps)
///     both         out(i) = z(i) * weight(i) + bias(i)
///
/// The variance is that of a population, divided by N, not by N - 1; eps stands inside the root. It
/// is summed in a pass of its own, from x - mean. E[x^2] - E[x]^2 would need one pass less, and is
/// wrong where the mean is large: near 10240 squares are near 10^8, where floats are 8 apart, and
/// their difference is noise. Sums start from the row's first element, as x(i) - x(0): so the mean
/// of a constant row is exactly that constant.
///
/// For all versions: rows lie along the last dim. `in` and `out` have one shape (..., C) and any
/// strides, `out` is injective and may be `in` itself. T is float or bf16; arithmetic is float. A
/// row that holds a NaN becomes NaN; one with an infinity too, but RMS norm, which divides by
/// infinity then, leaves 0 of its finite elements. Other rows do not notice.
/// @throws std::invalid_argument  rank 0, other shapes, an eps that is negative or no number, out
/// not injective, a null pointer, overlap of in and out that are not the same; a path that cannot
/// take these views
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of the norms.
enum class NormPath {
    thread_a_row,  // a thread, a row: the loop's twin
    warp_a_row,    // 02: a warp's lanes are neighbours in the row; memory is read three times
    registers,     // 03: read once, in quads; both passes run over registers
    tile,          // layer_norm and rms_norm, never chosen unasked: CUDA Tile C++, a row is a tile
};
[[nodiscard]] const char* name(NormPath path);

/// What becomes of z. Weight and bias have shape (C) and any stride; a null pointer stands for
/// ones, or for zeros.
struct NormParameters {
    View<const float> weight = {};
    View<const float> bias = {};
    float eps = 1e-5f;

    // [norm_parameters]
    SIXDAYS_HD float operator()(float z, std::int64_t i) const noexcept {
        const float w = weight.data != nullptr ? weight(i) : 1.0f;
        const float b = bias.data != nullptr ? bias(i) : 0.0f;
        return std::fma(z, w, b);
    }
    // [norm_parameters]
};

/// Layer norm (Ba, Kiros and Hinton 2016, arXiv 1607.06450). Error, in units of 2^-24: that of the
/// mean, C + 2 of the mean of |x - x(0)| and 1 of |mean|; of z, C / 2 + 8 of itself and what the
/// mean is off; of out, |weight| times that and 2 of itself; and a rounding to T. What the mean is
/// off, d in units of sqrt(variance + eps), counts twice: every x - mean is off by d, and their
/// squares have a mean of variance + d^2, so that z shrinks by 1 - 1 / sqrt(1 + d^2) of itself.
/// That matters only where a row's spread is near the rounding of its mean.
template <class T>
void layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out);
template <class T>
void layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                     const gpu::Launch<NormPath>& how = {});

/// RMS norm: layer norm that takes the mean for 0 (Zhang and Sennrich 2019, arXiv 1910.07467).
template <class T>
void rms_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out);
template <class T>
void rms_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                   const gpu::Launch<NormPath>& how = {});

/// residual += in, and out = layer norm of the sum, as it is stored. One pass over memory where two
/// operations need two: what a block adds to the residual stream is at once the next block's input.
/// @param residual  of in's shape; injective, apart from in and out
template <class T>
void add_layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters,
                        View<Same<T>> residual, View<T> out);
template <class T>
void add_layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters,
                         View<Same<T>> residual, View<T> out,
                         const gpu::Launch<NormPath>& how = {});

/// What the operations refuse; with a path also what that path cannot take.
/// @param op  "layer_norm" or "rms_norm": with which a message begins
template <class T>
void check_norm(const char* op, const View<const Same<T>>& in, const NormParameters& parameters,
                const View<T>& out, std::optional<NormPath> path = {});
template <class T>
void check_add_layer_norm(const View<const Same<T>>& in, const NormParameters& parameters,
                          const View<Same<T>>& residual, const View<T>& out,
                          std::optional<NormPath> path = {});

/// What is refused of weight, bias and eps for rows of C elements, in the name of `op`.
void check_norm_parameters(const char* op, const NormParameters& parameters, std::int64_t C);

/// The best path for views that check_norm() has not refused.
/// @param residual  of add_layer_norm; `out` again if there is none
template <class T>
[[nodiscard]] NormPath choose_norm(const View<const Same<T>>& in, const View<Same<T>>& residual,
                                   const View<T>& out);

}  // namespace sixdays::day06_transformer_ops
