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

/// What a call of a norm launches: plan_norm().
template <class T>
struct NormPlan {
    NormPath path;     // the one asked for, else the best
    Rows<const T> in;  // along the last dimension
    Rows<T> residual;  // of add_layer_norm; of the other norms a null pointer with out's layout
    Rows<T> out;       // as those of in
    /// What add_layer_norm normalizes: the residual, once `in` was added.
    Rows<const T> sum() const { return {residual.first, residual.length, residual.stride}; }
};

/// The one decision of a norm's CPU reference and CUDA version: rejects invalid arguments, and a
/// path in `how` that does not support these views. Without a path: `registers` if rows of all
/// views suit 128-bit loads, up to 16,384 elements; else `warp_per_row` for contiguous rows of `in`
/// and `thread_per_row` for others.
/// @param op        the norm, such as "layer_norm": the beginning of a message
/// @param residual  of add_layer_norm
/// @throws std::invalid_argument  as the norm's CUDA version
template <class T>
[[nodiscard]] NormPlan<T> plan_norm(const char* op, const View<const Same<T>>& in,
                                    const NormParameters& parameters, const View<T>& out,
                                    const gpu::Launch<NormPath>& how = {},
                                    const std::optional<View<Same<T>>>& residual = {});

/// Rejects invalid weight, bias and eps for rows of C elements, in the name of `op`.
void check_norm_parameters(const char* op, const NormParameters& parameters, std::int64_t C);

}  // namespace sixdays::day06_transformer_ops
