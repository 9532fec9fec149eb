/// @file
/// What block-wide helpers need: shared memory in a header, in a template, in a nested include.
#pragma once

#include "language_table.cuh"

/// The value of the mirrored thread of the block.
template <int THREADS, class T>
__device__ T swap_ends(T value) {
    __shared__ T ends[THREADS];
    ends[threadIdx.x] = value;
    __syncthreads();
    return ends[THREADS - 1 - threadIdx.x];
}

inline __device__ int swap_ends_64(int value) {
    return swap_ends<64>(value);
}
