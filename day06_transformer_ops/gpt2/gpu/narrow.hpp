/// @file
/// Rounds floats to 16 bits, for operands of tensor cores.
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::gpt2 {

/// The function applied before rounding.
enum class Before {
    nothing,  // only rounding
    gelu      // in its tanh form
};

/// out = in, or GELU (its tanh form) of in, rounded to the nearest T, bf16 or f16. f16 overflows to
/// infinity.
/// @param in   any strides; the CUDA version: rows, along the last dimension, are whole groups of
/// eight contiguous numbers that begin at a multiple of their size
/// @param out  the same
/// @throws std::invalid_argument  other shapes or layouts, out not injective, a null pointer,
/// overlap
template <class T>
void narrow_cpu(View<const float> in, View<T> out, Before before = Before::nothing);
template <class T>
void narrow_cuda(View<const float> in, View<T> out, Before before = Before::nothing,
                 gpu::Stream stream = {});
template <class T>
void check_narrow(const View<const float>& in, const View<T>& out);

/// out = layer norm of each row of in, as layer_norm_cpu() computes it, rounded to the nearest T.
/// @param in          (rows, C); the CUDA version needs them contiguous, C a multiple of 8
/// @param parameters  weight and bias, which the CUDA version requires
/// @param out         (rows, C)
/// @throws std::invalid_argument  as narrow_cuda(); parameters that do not fit
template <class T>
void norm_narrow_cpu(View<const float> in, const day06_transformer_ops::NormParameters& parameters,
                     View<T> out);
template <class T>
void norm_narrow_cuda(View<const float> in, const day06_transformer_ops::NormParameters& parameters,
                      View<T> out, gpu::Stream stream = {});
template <class T>
void check_norm_narrow(const View<const float>& in,
                       const day06_transformer_ops::NormParameters& parameters, const View<T>& out);

}  // namespace sixdays::gpt2
