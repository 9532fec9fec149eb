/// @file
/// The three loops of a product in three orders. All give the same sums: for every (m, n) they add
/// the same products in the same order. They access memory with different strides, which is what
/// this compares on a CPU.
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// out = a b, of rank 2 and any strides, with k innermost. Sums in the order of k, so all three
/// orders give equal bits.
/// @throws std::invalid_argument  as matmul_cpu(), or a rank above 2
void matmul_mnk(View<const float> a, View<const float> b, View<float> out);

/// out = a b with k before n: the innermost loop runs along a row of b and a row of out. Rank 2,
/// any strides; bits as matmul_mnk().
/// @throws std::invalid_argument  as matmul_mnk()
void matmul_mkn(View<const float> a, View<const float> b, View<float> out);

/// out = a b in the order m, k, n over blocks of b of 64 x 256 elements, 64 KiB: a block stays in
/// the cache during the loop over all m. Rank 2, any strides; bits as matmul_mnk().
/// @throws std::invalid_argument  as matmul_mnk()
void matmul_blocked(View<const float> a, View<const float> b, View<float> out);

}  // namespace sixdays::day05_matmul
