// Asynchronous copies, assert, and endless loops.
#undef NDEBUG  // assert() is under test, in release builds too
#include <cuda_pipeline_primitives.h>

#include <cassert>

#include "common/emulator/tests/mistakes.hpp"

namespace sixdays::emulator::tests {

__global__ void missing_wait(const float* in, int, float* out) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // MARK missing_wait
}
__global__ void neighbours_missing_wait(const float* in, int, float* out) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];  // MARK neighbours_missing_wait
}
__global__ void wait_too_little(const float* in, int, float* out) {
    __shared__ float tile[2][32];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][t], in + t, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][t], in + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][t] + tile[1][t];  // MARK wait_too_little
}
__global__ void refilled_too_early(const float* in, int, float* out) {
    __shared__ float tile[32];
    const unsigned t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[31 - t];  // MARK refilled_too_early
    __pipeline_memcpy_async(&tile[t], in + 32 + t, 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[32 + t] = tile[t];
}
__global__ void copy_without_barrier(const float* in, int, float* out) {
    __shared__ float tile[64];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], in + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (t >= 32) out[t] = tile[t - 32];  // MARK copy_without_barrier
}
__global__ void fails_assert(const float*, int n, float*) {
    assert(static_cast<int>(threadIdx.x) + 1 < n);  // MARK fails_assert
}
__global__ void spins(const float*, int, float* out) {
    if (threadIdx.x == 0) {
        const volatile float* flag = out;
        while (*flag == 0.0f) {  // MARK spins
        }
    }
}

__device__ float deeper(const float* in, int n) {  // MARK recursion
    volatile float here[64];
    here[n % 64] = in[0];
    return n == -1 ? here[1] : deeper(in, n + 1) + here[n % 64];
}
__global__ void recursion(const float* in, int, float* out) {
    out[threadIdx.x] = deeper(in, 0);
}
__global__ void endless_loop(const float*, int n, float* out) {
    unsigned i = 1;
    while (i != 0) i = i * 2 + static_cast<unsigned>(n) % 2 + 1;  // MARK endless_loop
    out[threadIdx.x] = 1.0f;
}
__global__ void endless_barriers(const float* in, int, float* out) {
    __shared__ float s[64];
    for (unsigned half = blockDim.x / 2; half > 0; half /= 1) {
        s[threadIdx.x] = in[threadIdx.x];
        __syncthreads();  // MARK endless_barriers
    }
    out[threadIdx.x] = s[threadIdx.x];
}

std::vector<Mistake> others_mistakes() {
    return {
        {"missing_wait", missing_wait, 1, 32, 32},
        {"neighbours_missing_wait", neighbours_missing_wait, 1, 32, 32},
        {"wait_too_little", wait_too_little, 1, 32, 32},
        {"refilled_too_early", refilled_too_early, 1, 32, 64},
        {"copy_without_barrier", copy_without_barrier, 1, 64, 64},
        {"fails_assert", fails_assert, 1, 32, 20},
        {"spins", spins, 1, 32, 32},
        {"recursion", recursion, 1, 64, 64},
        {"endless_loop", endless_loop, 1, 64, 64},
        {"endless_barriers", endless_barriers, 1, 64, 64},
    };
}

}  // namespace sixdays::emulator::tests
