/// @file
/// Exercise 6 of Day 02: the rows of a matrix in reverse, by a stride and not by an index.
///
/// Medium, 20 minutes.
///
/// Write a kernel that copies a matrix between any two layouts, and then change nothing but a few
/// numbers: a view whose index (0, 0) is in the last row, and whose rows go backwards. (The loop
/// does it by an index.)
///
///     in  (M, K) = (3, 2)    1  2        out  (M, K)    5  6
///                            3  4                       3  4
///                            5  6                       1  2
///
/// Write it in my/day02_strides/flip_rows.cu, then `common/learn check day02`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// out(m, k) = in(M - 1 - m, k)
/// @param in   (M, K), any strides; M and K may be 0
/// @param out  (M, K), any injective strides, at most 65,535 * 8 rows; apart from `in`
/// @throws std::invalid_argument  other shapes, an output that is not injective, too many rows, a
/// null pointer, overlap
void flip_rows_cpu(View<const float> in, View<float> out);
void flip_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_flip_rows(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
