/// @file
/// The three loops of a product in three orders. Each gives the same sums, for every (m, n) adds
/// the same products in the same order, and walks memory in another way: what that costs on a CPU.
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// out = a b, of rank 2 and any strides; sums in the order of k, so all three give equal bits.
/// @throws std::invalid_argument  as check_matmul()
void matmul_mnk(View<const float> a, View<const float> b, View<float> out);

/// k before n: the innermost loop walks along a row of b and a row of out.
void matmul_mkn(View<const float> a, View<const float> b, View<float> out);

/// m, k, n again, over blocks of b of 64 x 256 numbers, 64 KiB: they stay in the cache while all m
/// are walked.
void matmul_blocked(View<const float> a, View<const float> b, View<float> out);

}  // namespace sixdays::day05_matmul
