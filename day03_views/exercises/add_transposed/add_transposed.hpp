/// @file
/// Exercise 6 of Day 03: add a matrix and its transpose.
///
/// Hard, 45 minutes.
///
/// As views it is one line: out(m, n) = a(m, n) + t(m, n), where t is transpose(a) and nothing is
/// copied. As a kernel that line reads t down the columns of `a`. And in place it is wrong: a(0, 1)
/// is overwritten before a(1, 0) has read it.
///
///     a (N, N) = 1  2  3        a^T = 1  4  7        out =  2   6  10
///                4  5  6              2  5  8               6  10  14
///                7  8  9              3  6  9              10  14  18
///
/// Write the kernel in my/day03_views/add_transposed.cu, then `common/learn check day03`: all reads
/// and writes of a warp along rows, no two words of a bank at once.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out(m, n) = a(m, n) + a(n, m)
/// @param a    (N, N), contiguous
/// @param out  (N, N), contiguous
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap (also a itself)
void add_transposed_cpu(View<const float> a, View<float> out);
void add_transposed_cuda(View<const float> a, View<float> out, gpu::Stream stream = {});
void check_add_transposed(const View<const float>& a, const View<float>& out);

}  // namespace sixdays::day03_views
