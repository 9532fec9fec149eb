/// @file
/// Exercise 8 of Day 04: running sum of each row (inclusive scan).
///
/// Hard, 60 minutes.
///
///     in (2, 5) = 1  2  3  4  5        out = 1  3  6  10  15
///                 2  0  1  0  5              2  2  3   3   8
///
/// Every output depends on all elements before it, so the problem looks sequential. But a warp can
/// scan 32 elements in five steps. In step one, each lane adds its left neighbour's value to its
/// own. In step two it adds the value two lanes to the left, then 4, 8 and 16:
///
///     lane      0   1   2   3   4   5         each lane holds 1
///     1 left    1   2   2   2   2   2         lanes 1 .. add lane - 1
///     2 left    1   2   3   4   4   4         lanes 2 .. add lane - 2
///     4 left    1   2   3   4   5   6         lanes 4 .. add lane - 4
///
/// __shfl_up_sync(0xffffffff, x, d) returns the x of the lane d to the left. Lanes 0 to d - 1 have
/// no such lane and get their own x back. Then add the sum of all earlier elements. Now lane 31's x
/// is what the next 32 elements need, and __shfl_sync(0xffffffff, x, 31) broadcasts it to every
/// lane.
///
/// Write the kernel in my/day04_argmax/running_sum.cu, then run `common/learn check day04`. Use one
/// warp per row, with coalesced loads and stores.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day04_argmax {

/// out(m, n) = in(m, 0) + .. + in(m, n). The kernel adds in another order: it is equal where sums
/// are exact, and within n roundings elsewhere. NumPy's and PyTorch's cumsum over dimension 1.
/// @param in   (M, N), contiguous
/// @param out  (M, N), contiguous, not overlapping `in`
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void running_sum_cpu(View<const float> in, View<float> out);
void running_sum_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_running_sum(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day04_argmax
