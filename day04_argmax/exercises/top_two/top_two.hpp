/// @file
/// Exercise 7 of Day 04: indices of the two largest elements of each row.
///
/// Easy, 20 minutes.
///
/// When a model has chosen a token, the runner-up is of interest too. The order is that of argmax:
/// of equal elements the one with the lower index comes first, and NaNs come before all numbers.
///
///     in (3, 4) =   5  1  9  2        out = 2  0        9, then 5
///                   7  7  0  3              0  1        7, then the other 7
///                   4  8  6  8              1  3        8, then the other 8
///
/// The second is what argmax would return without the first: for -inf -inf, out is 0 1, and for nan
/// 3 5 it is 0 2.
///
/// Use one thread per row, as in argmax's twin. Write the kernel in my/day04_argmax/top_two.cu,
/// then run `common/learn check day04`.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"
#include "day04_argmax/joins.hpp"

namespace sixdays::day04_argmax {

/// @param in   (M, N), any strides, N at least 2
/// @param out  (M, 2), any strides, injective: index of the first and of the second
/// @throws std::invalid_argument  other shapes, an out that is not injective, a null
/// pointer, overlap
void top_two_cpu(View<const float> in, View<std::int64_t> out);
void top_two_cuda(View<const float> in, View<std::int64_t> out, gpu::Stream stream = {});
void check_top_two(const View<const float>& in, const View<std::int64_t>& out);

}  // namespace sixdays::day04_argmax
