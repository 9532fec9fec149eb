/// @file
/// For .cu files: reductions over a warp or a block. `combine(a, b)` must be associative and
/// commutative, up to rounding: the last bits of a sum depend on the order, but the order is fixed,
/// so every run gives the same bits.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

namespace sixdays::gpu {

/// The value of the lane whose number differs in the bit `distance`. T consists of 4-byte words.
template <class T>
__device__ __forceinline__ T shuffle_xor(const T& value, int distance) {
    static_assert(sizeof(T) % 4 == 0, "a shuffle moves 4-byte words");
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, distance);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
}

/// Combines by a + b, for warp_reduce() and block_reduce().
struct Plus {
    /// a + b
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
/// Combines by the larger of two floats; of a number and a NaN, by the number.
struct Larger {
    /// fmaxf(a, b)
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// [warp_reduce]
/// Combines the values of LANES adjacent lanes; each of them gets the result.
/// All 32 lanes of the warp must call this. LANES is 2, 4, 8, 16 or 32.
/// @param combine  associative and commutative, up to rounding
template <int LANES = 32, class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, const Combine& combine) {
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value = combine(value, shuffle_xor(value, distance));
    }
    return value;
}
// [warp_reduce]

/// Combines the values of the THREADS threads of a block; each gets the result. All must call this.
/// THREADS is 32 times a power of two.
/// @param combine  associative and commutative, up to rounding; the order is fixed
template <int THREADS, class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, const Combine& combine) {
    constexpr int kWarps = THREADS / 32;
    value = warp_reduce(value, combine);
    if constexpr (kWarps > 1) {
        __shared__ T of_warp[kWarps];
        __syncthreads();  // another thread may still read the values of the last call
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = warp_reduce<kWarps>(of_warp[threadIdx.x % kWarps], combine);
    }
    return value;
}

}  // namespace sixdays::gpu
