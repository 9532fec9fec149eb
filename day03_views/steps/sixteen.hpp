/// @file
/// For .cu files: 16 bytes at a time, and what to do at an edge where fewer are left.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sixdays::day03_views {

/// 16 bytes, or at an edge the `inside` elements that exist, with zeros behind them.
template <class T>
__device__ uint4 load_at_edge(const T* from, int inside) {
    constexpr int kEach = 16 / sizeof(T);    // elements in 16 bytes
    constexpr int kPerWord = 4 / sizeof(T);  // elements in a word
    if (inside >= kEach) return *reinterpret_cast<const uint4*>(from);
    unsigned word[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        const int bits = 8 * sizeof(T) * (k % kPerWord);
        if (k < inside) word[k / kPerWord] |= static_cast<unsigned>(from[k]) << bits;
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/// value[j] = 16 bytes from row j * STEP, for all j: loads only, so that all are under way
/// together.
/// @param rows, columns  how many rows and elements of a row there are from `from` on
template <int STEP, class T, int EACH>
__device__ void load_rows(const T* from, std::int64_t pitch, int rows, int columns,
                          uint4 (&value)[EACH]) {
    if (rows > (EACH - 1) * STEP && columns >= static_cast<int>(16 / sizeof(T))) {
        for (int j = 0; j < EACH; ++j) {
            value[j] = *reinterpret_cast<const uint4*>(from + j * STEP * pitch);
        }
    } else {
        for (int j = 0; j < EACH; ++j) {
            value[j] = load_at_edge(from + j * STEP * pitch, j * STEP < rows ? columns : 0);
        }
    }
}

/// Writes 16 bytes, or at an edge only the first `inside` elements of them.
template <class T>
__device__ void store_at_edge(T* to, int inside, uint4 value) {
    constexpr int kEach = 16 / sizeof(T);
    constexpr int kPerWord = 4 / sizeof(T);
    if (inside >= kEach) {
        *reinterpret_cast<uint4*>(to) = value;
        return;
    }
    const unsigned word[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        const int bits = 8 * sizeof(T) * (k % kPerWord);
        if (k < inside) to[k] = static_cast<T>(word[k / kPerWord] >> bits);
    }
}

}  // namespace sixdays::day03_views
