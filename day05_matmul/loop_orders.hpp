/// @file
/// The three loops of a product in three orders. All give the same sums: for every (m, n) they add
/// the same products in the same order. They access memory with different strides, which is what
/// this compares on a CPU.
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// out = a b, of rank 2 and any strides; sums in the order of k, so all three give equal bits.
/// @throws std::invalid_argument  as check_matmul()
void matmul_mnk(View<const float> a, View<const float> b, View<float> out);

/// k before n: the innermost loop runs along a row of b and a row of out.
void matmul_mkn(View<const float> a, View<const float> b, View<float> out);

/// m, k, n again, over blocks of b of 64 x 256 elements, 64 KiB: a block stays in the cache during
/// the loop over all m.
void matmul_blocked(View<const float> a, View<const float> b, View<float> out);

}  // namespace sixdays::day05_matmul
