/// @file
/// Norms scale every token's vector to the same size, so that no block of a network depends on how
/// large the numbers of the previous block are.
///
///     layer norm   z(i) = (x(i) - mean) / sqrt(variance + eps)     mean of x, mean of (x - mean)^2
///     RMS norm     z(i) = x(i) / sqrt(mean of x^2 + eps)
///     both         out(i) = z(i) * weight(i) + bias(i)
///
/// The variance is that of a population, divided by N, not by N - 1; eps is inside the root. It is
/// summed in a second pass, from x - mean. E[x^2] - E[x]^2 would save that pass, but is wrong where
/// the mean is large: near 10240 squares are near 10^8, where floats are 8 apart, and their
/// difference is noise. Sums are relative to the row's first element, x(i) - x(0), so the mean of a
/// constant row is exactly that constant.
///
/// For all versions: T is float or bf16; arithmetic is float. A row that contains a NaN becomes
/// NaN; so does one with an infinity, except that RMS norm, which then divides by infinity, gives 0
/// for its finite elements. Other rows are not affected.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of the norms.
enum class NormPath {
    thread_per_row,  // one thread per row: the twin
    warp_per_row,    // 02: one warp per row; memory is read three times
    registers,       // 03: read once, with 128-bit loads; both passes run over registers
    tile,            // layer_norm and rms_norm, only on request: CUDA Tile C++, a row is a tile
};
[[nodiscard]] const char* name(NormPath path);

/// Scale and shift of z. Weight and bias have shape (C) and any stride; a null pointer stands for
/// ones, or for zeros.
struct NormParameters {
    View<const float> weight = {};  // (C); a null pointer: ones
    View<const float> bias = {};    // (C); a null pointer: zeros
    float eps = 1e-5f;              // added to the variance, inside the root; 0 or more

    /// Element i of a row: z * weight(i) + bias(i).
    SIXDAYS_HD float operator()(float z, std::int64_t i) const noexcept {
        const float w = weight.data != nullptr ? weight(i) : 1.0f;
        const float b = bias.data != nullptr ? bias(i) : 0.0f;
        return std::fma(z, w, b);
    }
};

/// Layer norm (Ba, Kiros and Hinton 2016, arXiv 1607.06450) of each row, along the last dimension:
///
///     out(i) = (x(i) - mean) / sqrt(variance + eps) * weight(i) + bias(i)
///
/// Error, in units of 2^-24. The mean:
/// C + 2 of the mean of |x - x(0)|, and 1 of |mean|. z: C / 2 + 8 of itself, and the error d of the
/// mean in units of sqrt(variance + eps). out: |weight| times that, 2 of itself, and a rounding to
/// T. d counts twice: it shifts every x - mean, and the mean of their squares becomes
/// variance + d^2, so z shrinks by a factor 1 / sqrt(1 + d^2). That matters only where a row's
/// spread is close to the rounding error of its mean.
/// @param in   (..., C), any strides; T is float or bf16
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  rank 0, other shapes, parameters that are not (C), an eps that is
/// negative or NaN, out not injective, a null pointer, overlap of in and out that are not the same;
/// a path that does not support these views
template <class T>
void layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out);
template <class T>
void layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                     const gpu::Launch<NormPath>& how = {});

/// RMS norm: layer norm with the mean taken as 0 (Zhang and Sennrich 2019, arXiv 1910.07467).
///
///     out(i) = x(i) / sqrt(mean of x^2 + eps) * weight(i) + bias(i)
///
/// @param in   (..., C), any strides; T is float or bf16
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  rank 0, other shapes, parameters that are not (C), an eps that is
/// negative or NaN, out not injective, a null pointer, overlap of in and out that are not the same;
/// a path that does not support these views
template <class T>
void rms_norm_cpu(View<const Same<T>> in, const NormParameters& parameters, View<T> out);
template <class T>
void rms_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                   const gpu::Launch<NormPath>& how = {});

/// residual += in, and out = layer norm of the stored sum. Fused, one pass over memory instead of
/// two: each part of a block adds to the residual stream, and the next part normalizes it.
/// @param in        (..., C), any strides; T is float or bf16
/// @param residual  shape of in; injective, overlapping neither in nor out
/// @param out       in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  as layer_norm_cpu(); a residual of another shape, or that overlaps
template <class T>
void add_layer_norm_cpu(View<const Same<T>> in, const NormParameters& parameters,
                        View<Same<T>> residual, View<T> out);
template <class T>
void add_layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters,
                         View<Same<T>> residual, View<T> out,
                         const gpu::Launch<NormPath>& how = {});

/// Rejects invalid arguments; with a path, also views that the path does not support.
/// @param op  "layer_norm" or "rms_norm": the beginning of the message
template <class T>
void check_norm(const char* op, const View<const Same<T>>& in, const NormParameters& parameters,
                const View<T>& out, std::optional<NormPath> path = {});
template <class T>
void check_add_layer_norm(const View<const Same<T>>& in, const NormParameters& parameters,
                          const View<Same<T>>& residual, const View<T>& out,
                          std::optional<NormPath> path = {});

/// Rejects invalid weight, bias and eps for rows of C elements, in the name of `op`.
void check_norm_parameters(const char* op, const NormParameters& parameters, std::int64_t C);

/// The path that each norm takes without one in gpu::Launch: `registers` if rows of all three views
/// suit 128-bit loads, up to 16,384 elements; else `warp_per_row` for contiguous rows and
/// `thread_per_row` for others. For views that check_norm() accepts.
/// @param residual  the one of add_layer_norm; `out` for the other norms
template <class T>
[[nodiscard]] NormPath choose_norm(const View<const Same<T>>& in, const View<Same<T>>& residual,
                                   const View<T>& out);

}  // namespace sixdays::day06_transformer_ops
