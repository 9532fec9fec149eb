/// @file
/// Exercise 8 of Day 01: select the last token's vector of every sequence.
///
/// Medium, 20 minutes.
///
/// To predict the next token, a model needs only the last position of its activations (B, T, C).
/// Use a row pointer: where does token T - 1 of sequence b begin?
///
///     in  (B, T, C) = (2, 3, 2)   sequence 0:   0  1 |  2  3 |  4  5        out (B, C)    4  5
///                                 sequence 1:   6  7 |  8  9 | 10 11                     10 11
///
/// Write the kernel and its launcher in my/day01_flat_memory/last_token.cu, then run
/// `common/learn check day01`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day01_flat_memory {

/// out(b, c) = in(b, T - 1, c)
/// @param in   (B, T, C), contiguous; B and C may be 0, T must be at least 1
/// @param out  (B, C), contiguous, not overlapping `in`
/// @throws std::invalid_argument  other shapes or strides, T = 0, a null pointer, overlap
void last_token_cpu(View<const float> in, View<float> out);
void last_token_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_last_token(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day01_flat_memory
