/// @file
/// Exercise 10 of Day 05: find the races.
///
/// Medium, 30 minutes.
///
/// The kernel in the stub multiplies two square matrices through tiles in shared memory. It was
/// once published as a fixed version, it compiles, and it passes many tests on many GPUs. It has
/// three bugs, and all three are about order: two threads access the same word, at least one of
/// them writes, and nothing orders the two accesses.
///
///     a (2, 2) = 1 2     b (2, 2) = 5 6     out = 19 22
///                3 4                7 8           43 50
///
/// Check it as it is: run `common/learn start day05`, then `common/learn check day05`. The emulator
/// reports both threads and their lines. Fix what it reports, and check again. Keep the tiles: a
/// kernel that reads global memory for every product is correct, but the check rejects it.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// out(m, n) = sum over k of a(m, k) * b(k, n), in the order of k
/// @param a, b, out  (N, N), contiguous
/// @throws std::invalid_argument  other shapes or strides, a null pointer, out overlaps an input
void find_the_race_cpu(View<const float> a, View<const float> b, View<float> out);
void find_the_race_cuda(View<const float> a, View<const float> b, View<float> out,
                        gpu::Stream stream = {});
void check_find_the_race(const View<const float>& a, const View<const float>& b,
                         const View<float>& out);

}  // namespace sixdays::day05_matmul
