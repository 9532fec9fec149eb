/// @file
/// The offset of an element in flat memory, written out for 2, 3 and 4 dimensions.
///
/// Ask one question per dimension: how many elements away is the next element along it? The answer
/// is the product of the extents to its right, and it multiplies the index of that dimension:
///
///     scores (B, H, T, T)     b: H * T * T     h: T * T     q: T     k: 1
///
/// Loops and kernels call the same functions. All sizes are 64-bit: B * H * T * T exceeds 2^31 in
/// ordinary models (32 * 12 * 4096 * 4096 is 6.4e9).
#pragma once

#include <cstdint>

#include "common/tensor/host_device.hpp"

namespace sixdays::day01_flat_memory {

// [offsets]
/// Matrix (M, K): row m, column k. M is not needed.
SIXDAYS_HD inline std::int64_t offset2(std::int64_t m, std::int64_t k, std::int64_t K) noexcept {
    return m * K + k;
}

/// A tensor (B, T, C): sequence b of the batch, token position t ("time"), channel c.
SIXDAYS_HD inline std::int64_t offset3(std::int64_t b, std::int64_t t, std::int64_t c,
                                       std::int64_t T, std::int64_t C) noexcept {
    return (b * T + t) * C + c;  // b * (T * C) + t * C + c, with one multiplication fewer
}
// [offsets]

/// Attention scores (B, H, T, S): sequence b, head h, query position q of T, key position k of S.
/// While a model reads a prompt, S equals T and the shape is (B, H, T, T).
SIXDAYS_HD inline std::int64_t offset4(std::int64_t b, std::int64_t h, std::int64_t q,
                                       std::int64_t k, std::int64_t H, std::int64_t T,
                                       std::int64_t S) noexcept {
    return ((b * H + h) * T + q) * S + k;
}

// [row pointer]
/// The row pointer: compute all terms but the last once, then index with the last index alone.
/// token_at(x, b, t, T, C)[c] is x[offset3(b, t, c, T, C)], with the multiplications done once.
SIXDAYS_HD inline const float* token_at(const float* x, std::int64_t b, std::int64_t t,
                                        std::int64_t T, std::int64_t C) noexcept {
    return x + (b * T + t) * C;
}
// [row pointer]

/// The scores of one query: scores_of(x, b, h, q, H, T, S)[k] is x[offset4(b, h, q, k, H, T, S)].
SIXDAYS_HD inline const float* scores_of(const float* x, std::int64_t b, std::int64_t h,
                                         std::int64_t q, std::int64_t H, std::int64_t T,
                                         std::int64_t S) noexcept {
    return x + ((b * H + h) * T + q) * S;
}

}  // namespace sixdays::day01_flat_memory
