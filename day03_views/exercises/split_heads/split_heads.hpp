/// @file
/// Exercise 5 of Day 03: split the channels of every token into heads.
///
/// Medium, 25 minutes.
///
/// Attention needs the channels of one head together: T rows of D channels. The layer before it
/// writes one row of H * D channels per token, head after head. No element has to move to change
/// this: a reshape and a permutation of the view are enough. A kernel then copies the view into a
/// contiguous tensor.
///
///     in (B, T, H * D) = (1, 2, 6)           H = 3 heads of D = 2:
///                                            out (B, H, T, D) = (1, 3, 2, 2)
///
///     token 0     0  1  2  3  4  5           head 0    0  1     head 1    2  3     head 2    4  5
///     token 1     6  7  8  9 10 11                     6  7               8  9              10 11
///
/// Write the view and the kernel in my/day03_views/split_heads.cu, then run
/// `common/learn check day03`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out(b, h, t, c) = in(b, t, h * D + c), where D is the last extent of out
/// @param in   (B, T, H * D), last stride 1, any other strides: it may be the slice Q of
/// (B, T, 3 * H * D)
/// @param out  (B, H, T, D), contiguous
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void split_heads_cpu(View<const float> in, View<float> out);
void split_heads_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_split_heads(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day03_views
