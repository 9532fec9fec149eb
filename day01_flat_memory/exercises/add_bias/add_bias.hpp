/// @file
/// Exercise 7 of Day 01: add a bias to every row of a matrix.
///
/// Easy, 15 minutes.
///
/// Each row of `in` holds the N channels of one token. Every token gets the same bias added. In a
/// transformer this follows almost every matrix product.
///
///     in   (M, N) = (2, 3)    1  2  3       bias (N) = 10 20 30       out  (M, N)   11 22 33
///                             4  5  6                                               14 25 36
///
/// Write the kernel and its grid in my/day01_flat_memory/add_bias.cu, then run
/// `common/learn check day01`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

/// out(m, n) = in(m, n) + bias(n)
/// @param in    (M, N), contiguous; M and N may be 0
/// @param bias  (N), contiguous
/// @param out   (M, N), contiguous; may be `in` itself; at most kMostRows rows (65,535 blocks of 8)
/// @throws std::invalid_argument  other shapes or strides, too many rows, a null pointer, overlap
void add_bias_cpu(View<const float> in, View<const float> bias, View<float> out);
void add_bias_cuda(View<const float> in, View<const float> bias, View<float> out,
                   gpu::Stream stream = {});
void check_add_bias(const View<const float>& in, const View<const float>& bias,
                    const View<float>& out);

}  // namespace sixdays::day01_flat_memory
