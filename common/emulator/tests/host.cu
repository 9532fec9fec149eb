// Kernels for host.cpp.
#include "common/emulator/tests/host.hpp"

#include <cuda_pipeline_primitives.h>

// The warnings are about planted bugs.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace sixdays::emulator::tests {

__global__ void twice_kernel(const float* in, int n, float* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = 2.0f * in[i];
}
void twice(const float* in, int n, float* out, cudaStream_t stream) {
    twice_kernel<<<static_cast<unsigned>(n + 255) / 256, 256, 0, stream>>>(in, n, out);
}

using Numbers = const float*;  // the name hides the pointer type
__global__ void sum_restricted_kernel(Numbers __restrict__ a, Numbers __restrict__ b,
                                      const float* __restrict__ in, int n,
                                      float* __restrict__ out) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = a[i] + b[i] + in[i];
}
void sum_restricted(const float* in, int n, float* out) {
    sum_restricted_kernel<<<1, 64>>>(in, in, in, n, out);
}

template <bool START>
__global__ void sum_kernel(const float* in, int n, float* out) {
    float sum;
    if (START) sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += in[i];
    *out = sum;
}
void sum(const float* in, int n, bool start, float* out) {
    if (start) {
        sum_kernel<true><<<1, 1>>>(in, n, out);
    } else {
        sum_kernel<false><<<1, 1>>>(in, n, out);
    }
}

__global__ void sum_of_local_array_kernel(int given, int* out) {
    int values[8];
    for (int i = 0; i < given; ++i) values[i] = 1;
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum ^= values[i];
    *out = sum;
}
void sum_of_local_array(int given, int* out) {
    sum_of_local_array_kernel<<<1, 1>>>(given, out);
}

__global__ void store_before_kernel(unsigned before, float* out) {
    const unsigned i = threadIdx.x;
    out[i - before] = 1.0f;  // MARK wrapped
}
void store_before(unsigned before, float* out) {
    store_before_kernel<<<1, 1>>>(before, out);
}

__global__ void change_source_kernel(float* in, float value, float* out) {
    __shared__ alignas(16) float tile[4];
    __pipeline_memcpy_async(tile, in, 16);  // MARK started
    __pipeline_commit();
    in[2] = value;
    __pipeline_wait_prior(0);  // MARK waited
    for (int i = 0; i < 4; ++i) out[i] = tile[i];
}
void change_source_in_flight(float* in, float value, float* out) {
    change_source_kernel<<<1, 1>>>(in, value, out);
}

float first_of(const float* p) {
    return *p;  // MARK host_code_of_a_cu_file
}

}  // namespace sixdays::emulator::tests
