/// @file
/// Exercise 7 of Day 02: append new keys to a cache that has room for more.
///
/// Medium, 30 minutes.
///
/// Attention keeps the keys of all positions so far. The cache was made once, with room for
/// `capacity` positions; a step of the model brings n new ones, and they go to positions
/// pos, pos + 1, ... of every sequence and head. All else in the cache stays as it is.
///
/// Here fresh (B, H, n, D) is (1, 2, 1, 2), cache (B, H, capacity, D) is (1, 2, 4, 2), and pos is
/// 2; below 0 is what nobody has filled yet:
///
///                      head 0                        head 1
///     fresh            9 10                          11 12
///     cache, before    1  2   3  4  -1 -2  -3 -4     5  6   7  8  -5 -6  -7 -8
///     cache, after     1  2   3  4   9 10  -3 -4     5  6   7  8  11 12  -7 -8
///
/// The matrix product before it gives the new keys as (B, n, H, D); `fresh` is a view of that, its
/// dims permuted and nothing moved, so its strides are not row-major. Nor need the cache's be.
///
/// Write it in my/day02_strides/kv_append.cu, then `common/learn check day02`.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// cache(b, h, pos + t, c) = fresh(b, h, t, c) for all t < n
/// @param fresh  (B, H, n, D), any strides; extents may be 0
/// @param pos    0 <= pos, pos + n <= capacity
/// @param cache  (B, H, capacity, D), any injective strides, apart from `fresh`
/// @throws std::invalid_argument  other shapes, too little room, a cache that is not injective, a
/// null pointer, overlap
void kv_append_cpu(View<const float> fresh, std::int64_t pos, View<float> cache);
void kv_append_cuda(View<const float> fresh, std::int64_t pos, View<float> cache,
                    gpu::Stream stream = {});
void check_kv_append(const View<const float>& fresh, std::int64_t pos, const View<float>& cache);

}  // namespace sixdays::day02_strides
