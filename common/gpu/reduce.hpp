/// @file
/// For .cu files: what every thread has, combined into one. `combine(a, b)` must be associative and
/// commutative in what counts: a sum's last bits depend on the order, but the order is always the
/// same, so the bits are the same in every run.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

namespace sixdays::gpu {

/// The value of the lane whose number differs in the bit `distance`. T is made of 4-byte words.
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

// [combine]
/// The sum.
struct Plus {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
/// The larger of two floats; of a number and a NaN the number.
struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
// [combine]

// [warp_reduce]
/// The values of LANES neighbouring lanes combined; each of them has the result.
/// All 32 lanes of the warp must come. LANES is 2, 4, 8, 16 or 32.
template <int LANES = 32, class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, const Combine& combine) {
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value = combine(value, shuffle_xor(value, distance));
    }
    return value;
}
// [warp_reduce]

// [block_reduce]
/// The values of a block's THREADS threads combined; each has the result. All
/// must come. THREADS is 32 times a power of two.
template <int THREADS, class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, const Combine& combine) {
    constexpr int kWarps = THREADS / 32;
    value = warp_reduce(value, combine);
    if constexpr (kWarps > 1) {
        __shared__ T of_warp[kWarps];
        __syncthreads();  // somebody may still read what the last call left there
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = warp_reduce<kWarps>(of_warp[threadIdx.x % kWarps], combine);
    }
    return value;
}
// [block_reduce]

}  // namespace sixdays::gpu
