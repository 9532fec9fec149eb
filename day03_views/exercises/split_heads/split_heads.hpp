/// @file
/// Exercise 5 of Day 03: cut the channels of every token into heads.
///
/// Medium, 25 minutes.
///
/// Attention wants the channels of one head together: its T rows of D channels. What the layer
/// before leaves are rows of H * D channels, one a token, head after head. No element has to be
/// looked at to see them so: a reshape and a permutation of the view do it. A kernel then copies
/// what the view shows.
///
///     in (B, T, H * D) = (1, 2, 6)           H = 3 heads of D = 2:
///                                            out (B, H, T, D) = (1, 3, 2, 2)
///
///     token 0     0  1  2  3  4  5           head 0    0  1     head 1    2  3     head 2    4  5
///     token 1     6  7  8  9 10 11                     6  7               8  9              10 11
///
/// Write the view and the kernel in my/day03_views/split_heads.cu, then `common/learn check day03`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out(b, h, t, c) = in(b, t, h * D + c), where D is the last extent of out
/// @param in   (B, T, H * D), rows of stride 1, any other strides: it may be the part Q of
/// (B, T, 3 * H * D)
/// @param out  (B, H, T, D), contiguous
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void split_heads_cpu(View<const float> in, View<float> out);
void split_heads_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_split_heads(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day03_views
