/// @file
/// Exercise 6 of Day 03: add a matrix and its transpose.
///
/// Hard, 45 minutes.
///
/// With views this is one line: out(m, n) = a(m, n) + t(m, n), where t is transpose(a) and nothing
/// is copied. In a kernel, that line reads t along the columns of `a`, which is uncoalesced. In
/// place it would be wrong: a(0, 1) is overwritten before it is read for out(1, 0).
///
///     a (N, N) = 1  2  3        a^T = 1  4  7        out =  2   6  10
///                4  5  6              2  5  8               6  10  14
///                7  8  9              3  6  9              10  14  18
///
/// Write the kernel in my/day03_views/add_transposed.cu, then run `common/learn check day03`. All
/// loads and stores of a warp must be coalesced, and shared memory must have no bank conflicts.
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
