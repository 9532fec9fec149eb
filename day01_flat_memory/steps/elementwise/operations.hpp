/// @file
/// For .cu files: the operations as functors, so that the same kernels serve all of them, on single
/// elements and on float4s.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "common/tensor/vectorized.hpp"

namespace sixdays::day01_flat_memory {

struct Square {
    __device__ float operator()(float x) const { return x * x; }
};
struct Scale {
    float alpha;
    __device__ float operator()(float x) const { return alpha * x; }
};
struct Saxpy {
    float alpha;
    __device__ float operator()(float x, float y) const { return std::fma(alpha, x, y); }
};
struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Invert {
    __device__ std::uint8_t operator()(std::uint8_t x) const {
        return static_cast<std::uint8_t>(255 - x);
    }
    // 255 - x flips every bit of a byte, so four bytes invert at once.
    __device__ unsigned operator()(unsigned four) const { return ~four; }
};

/// The 16-byte vectors of a run as an array: a float4 is four floats x, y, z, w.
__device__ inline const float4* vectors_of(const float* data, const VectorizedRun& run) {
    return reinterpret_cast<const float4*>(data + run.head);
}
__device__ inline float4* vectors_of(float* data, const VectorizedRun& run) {
    return reinterpret_cast<float4*>(data + run.head);
}

/// The operation on each component of a float4: for two inputs {op(q.x, r.x), op(q.y, r.y), ...}.
template <class Op, class Vector, class... More>
__device__ Vector each(Op op, Vector q, More... r) {
    return {op(q.x, r.x...), op(q.y, r.y...), op(q.z, r.z...), op(q.w, r.w...)};
}

// For bytes: four words x, y, z, w of four bytes each.
__device__ inline const uint4* vectors_of(const std::uint8_t* data, const VectorizedRun& run) {
    return reinterpret_cast<const uint4*>(data + run.head);
}
__device__ inline uint4* vectors_of(std::uint8_t* data, const VectorizedRun& run) {
    return reinterpret_cast<uint4*>(data + run.head);
}

}  // namespace sixdays::day01_flat_memory
