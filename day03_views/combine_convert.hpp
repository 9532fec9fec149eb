/// @file
/// The same numbers in another element type: float, bf16 and f16 (common/tensor/half.hpp).
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out = in, converted: a 16-bit type to float is exact, everything else goes through float and is
/// rounded to the nearest once, ties to even; beyond the largest, infinity. The two types differ
/// and are named: nothing converts behind your back, and bf16 and f16 do not mix.
///
///     convert_cuda(in.view(), out.view());       // View<const float>, View<bf16>
///
/// Defined for the six pairs of float, bf16 and f16. A copy that changes no type is copy().
/// @param in   any strides; a view that may be written is handed over as View<const From>(v)
/// @param out  in's shape, injective, any strides
/// @throws std::invalid_argument  other shapes, out not injective, a null pointer, any overlap: one
/// element of in is not as long as one of out
template <class From, class To>
void convert_cpu(View<const From> in, View<To> out);
template <class From, class To>
void convert_cuda(View<const From> in, View<To> out, gpu::Stream stream = {});
template <class From, class To>
void check_convert(const View<const From>& in, const View<To>& out);

}  // namespace sixdays::day03_views
