/// @file
/// Exercise 7 of Day 02: append new keys to a KV cache.
///
/// Medium, 30 minutes.
///
/// Attention keeps the keys of all positions so far. The cache was allocated once, with room for
/// `capacity` positions. One step of the model adds n new keys per sequence and head, and they go
/// to positions pos, pos + 1, ... Everything else in the cache stays unchanged.
///
/// Here fresh (B, H, n, D) is (1, 2, 1, 2), cache (B, H, capacity, D) is (1, 2, 4, 2), and pos is
/// 2. The negative numbers mark positions that are not filled yet:
///
///                      head 0                        head 1
///     fresh            9 10                          11 12
///     cache, before    1  2   3  4  -1 -2  -3 -4     5  6   7  8  -5 -6  -7 -8
///     cache, after     1  2   3  4   9 10  -3 -4     5  6   7  8  11 12  -7 -8
///
/// The preceding matrix product writes the new keys as (B, n, H, D). `fresh` is a view of that
/// result with its dimensions permuted and no data moved, so its strides are not row-major. The
/// cache need not be row-major either.
///
/// Write it in my/day02_strides/kv_append.cu, then run `common/learn check day02`.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// cache(b, h, pos + t, c) = fresh(b, h, t, c) for all t < n
/// @param fresh  (B, H, n, D), any strides; extents may be 0
/// @param pos    0 <= pos, pos + n <= capacity
/// @param cache  (B, H, capacity, D), any injective strides, not overlapping `fresh`
/// @throws std::invalid_argument  other shapes, too little room, a cache that is not injective, a
/// null pointer, overlap
void kv_append_cpu(View<const float> fresh, std::int64_t pos, View<float> cache);
void kv_append_cuda(View<const float> fresh, std::int64_t pos, View<float> cache,
                    gpu::Stream stream = {});
void check_kv_append(const View<const float>& fresh, std::int64_t pos, const View<float>& cache);

}  // namespace sixdays::day02_strides
