/// @file
/// Exercise 6 of Day 02: reverse the rows of a matrix through its strides.
///
/// Medium, 20 minutes.
///
/// Write a kernel that copies a matrix between any two layouts. Then reverse the rows without
/// touching the kernel: pass it a view whose index (0, 0) is in the last row and whose row stride
/// is negative. (The CPU reference reverses the index instead.)
///
///     in  (M, K) = (3, 2)    1  2        out  (M, K)    5  6
///                            3  4                       3  4
///                            5  6                       1  2
///
/// Write it in my/day02_strides/flip_rows.cu, then run `common/learn check day02`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// out(m, k) = in(M - 1 - m, k)
/// @param in   (M, K), any strides; M and K may be 0
/// @param out  (M, K), any injective strides, at most 65,535 * 8 rows; not overlapping `in`
/// @throws std::invalid_argument  other shapes, an output that is not injective, too many rows, a
/// null pointer, overlap
void flip_rows_cpu(View<const float> in, View<float> out);
void flip_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_flip_rows(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
