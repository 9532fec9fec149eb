/// @file
/// The vectorized kernel of the activations, forward and backward.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/gpu/vector.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/activation/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {

inline constexpr int kVectorThreads = 128;
inline constexpr int kVectorsEach = 2;  // vectors in flight per tensor

// F: the function. b is not read for Plain.
template <class OP, class F, class T, int RANK>
__global__ void __launch_bounds__(kVectorThreads)
    activation_vectorized_kernel(const __grid_constant__ Walk<RANK, 3> vectors, const uint4* a,
                                 const uint4* b, uint4* out) {
    const std::uint32_t first = blockIdx.x * kVectorThreads * kVectorsEach + threadIdx.x;
    uint4 p[kVectorsEach], q[kVectorsEach];
    std::int64_t to[kVectorsEach];
#pragma unroll
    for (int j = 0; j < kVectorsEach; ++j) {
        const std::uint32_t k = first + j * kVectorThreads;
        if (k < vectors.size) {
            // With one dimension left, all tensors are contiguous.
            const Offsets<3> at = RANK == 1 ? Offsets<3>{k, k, k} : vectors.offsets(k);
            to[j] = at.of[0];
            p[j] = a[at.of[1]];
            q[j] = std::is_same_v<OP, Plain> ? p[j] : b[at.of[2]];
        }
    }
#pragma unroll
    for (int j = 0; j < kVectorsEach; ++j) {
        if (first + j * kVectorThreads < vectors.size) {
            float x[kPerVector<T>], y[kPerVector<T>];
            unpack<T>(p[j], x);
            unpack<T>(q[j], y);
#pragma unroll
            for (int e = 0; e < kPerVector<T>; ++e) x[e] = OP::of(F(), x[e], y[e]);
            out[to[j]] = pack<T>(x);
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
