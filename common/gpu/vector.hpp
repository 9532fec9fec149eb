/// @file
/// A vector of 16 bytes, four float or eight bf16 elements, unpacked to floats and packed again.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "common/tensor/half.hpp"

namespace sixdays {

/// Elements of T in a vector of 16 bytes: 4 floats, 8 bf16.
template <class T>
inline constexpr int kPerVector = 16 / static_cast<int>(sizeof(T));

/// The elements of a vector of 16 bytes as floats, in the order of memory.
template <class T>
__device__ void unpack(const uint4& vector, float (&x)[kPerVector<T>]) {
    T of[kPerVector<T>];
    memcpy(of, &vector, sizeof vector);
    for (int e = 0; e < kPerVector<T>; ++e) x[e] = float(of[e]);
}

/// Floats rounded to T and packed into a vector of 16 bytes, in the order of memory. The GPU rounds
/// two floats to bf16 in one instruction; integer code needs a dozen for each.
template <class T>
__device__ uint4 pack(const float (&x)[kPerVector<T>]) {
    uint4 vector;
    if constexpr (std::is_same_v<T, bf16>) {
        __nv_bfloat162 of[4];
        for (int e = 0; e < 4; ++e) of[e] = __floats2bfloat162_rn(x[2 * e], x[2 * e + 1]);
        memcpy(&vector, of, sizeof vector);
    } else {
        memcpy(&vector, x, sizeof vector);
    }
    return vector;
}

/// a + b per element: added in float and rounded as it will be stored.
template <class T>
__device__ uint4 sum_of(const uint4& a, const uint4& b) {
    float x[kPerVector<T>], y[kPerVector<T>];
    unpack<T>(a, x);
    unpack<T>(b, y);
    for (int e = 0; e < kPerVector<T>; ++e) x[e] += y[e];
    return pack<T>(x);
}

}  // namespace sixdays
