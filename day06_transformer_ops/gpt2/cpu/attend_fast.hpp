/// @file
/// Attention of one query on a CPU, for decoding: one token against the KV cache, head by head.
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

/// Attention of one query over the n positions that it sees: attention_cpu() of one row, with
/// independent sums for SIMD registers.
/// @param q, out        (D), contiguous
/// @param keys, values  (n, D), n at least 1, rows contiguous
/// @param scores        room for n
/// @throws std::invalid_argument  shapes that do not match, gaps, a null pointer, overlap
void attend_fast(View<const float> q, View<const float> keys, View<const float> values,
                 float* scores, View<float> out);
void check_attend_fast(const View<const float>& q, const View<const float>& keys,
                       const View<const float>& values, const View<float>& out);

}  // namespace sixdays::gpt2
