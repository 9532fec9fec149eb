/// @file
/// From floats to Q8_0, for writing model files.
#pragma once

#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

namespace sixdays::gpt2 {

/// As in the usual writer: scale = largest |weight| of a block / 127, q = weight / scale to
/// the nearest integer, halves away from 0. So a weight's error is at most half a scale, and
/// the scale's rounding to 11 bits, as long as the scale is 2^-14 or more (a largest |weight| of
/// 0.0078). A smaller one becomes a multiple of 2^-24, and a weight's error may be several scales;
/// 2^-25 and less becomes 0, and so does the whole block.
/// @param in   (N, K), any strides
/// @param out  blocks (N, K/32), injective
/// @throws std::invalid_argument  shapes that do not fit, out not injective, a null pointer, a
/// weight that is not finite or too large for such a scale
void quantise_q8_0_cpu(View<const float> in, View<Q8Block> out);
void check_quantise_q8_0(const View<const float>& in, const View<Q8Block>& out);

}  // namespace sixdays::gpt2
