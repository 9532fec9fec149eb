/// @file
/// For .cu files: 16-byte loads and stores that may cross the edge of a matrix.
///
/// __ldcs and __stcs carry the hint "cache streaming": data that is accessed only once is evicted
/// first. Together they gain 1 % on an H200; either one alone loses 1 %.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sixdays::day03_views {

/// A square of K x K elements, where K elements are 16 bytes: 4 x 4, 8 x 8 or 16 x 16. row[j] = the
/// 16 bytes of row j, for all K rows. Only loads, so that all are in flight together. At an edge,
/// the `rows` and `columns` that exist are loaded element by element, the others are 0.
template <class T, int K>
__device__ void load_square(const T* from, std::int64_t pitch, int rows, int columns,
                            uint4 (&row)[K]) {
    if (rows >= K && columns >= K) {
        for (int j = 0; j < K; ++j) {
            row[j] = __ldcs(reinterpret_cast<const uint4*>(from + j * pitch));
        }
        return;
    }
    alignas(16) T element[K][K] = {};
#pragma unroll 1
    for (int r = 0; r < K && r < rows; ++r) {
#pragma unroll 1
        for (int c = 0; c < K && c < columns; ++c) element[r][c] = from[r * pitch + c];
    }
    for (int j = 0; j < K; ++j) row[j] = *reinterpret_cast<const uint4*>(element[j]);
}

/// 16 bytes, or at an edge the first `inside` elements of them, then zeros.
template <class T>
__device__ uint4 load_vector(const T* from, int inside) {
    constexpr int K = 16 / sizeof(T);
    if (inside >= K) return *reinterpret_cast<const uint4*>(from);
    alignas(16) T element[K] = {};
#pragma unroll 1
    for (int c = 0; c < inside; ++c) element[c] = from[c];
    return *reinterpret_cast<const uint4*>(element);
}

/// Writes 16 bytes, or at an edge only the first `inside` elements of them.
template <class T>
__device__ void store_vector(T* to, int inside, uint4 value) {
    constexpr int K = 16 / sizeof(T);
    if (inside >= K) {
        __stcs(reinterpret_cast<uint4*>(to), value);
        return;
    }
    alignas(16) T element[K];
    *reinterpret_cast<uint4*>(element) = value;
#pragma unroll 1
    for (int c = 0; c < inside; ++c) to[c] = element[c];
}

}  // namespace sixdays::day03_views
