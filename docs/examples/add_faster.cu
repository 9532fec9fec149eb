// Three faster kernels of Day 01's add, for two inputs of floats. The versions in the lesson, for
// every operation, are in day01_flat_memory/steps/elementwise/.
#include <cstdint>
#include <cstdio>
#include <vector>

// [grid stride]
__global__ void add_grid_stride(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;  // in the whole grid
    std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i < n; i += threads) {
        out[i] = a[i] + b[i];
    }
}
// [grid stride]

// [vectorized]
__global__ void add_vectorized(const float4* a, const float4* b, std::int64_t vectors,
                               float4* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < vectors) {
        const float4 p = a[i], q = b[i];  // 16 bytes each
        out[i] = {p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w};
    }
}
// [vectorized]

// [any address]
__global__ void add_any_address(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * 4 + threadIdx.x;
    float sum[4];
    for (int j = 0; j < 4; ++j) {
        const std::int64_t k = i + j * std::int64_t{blockDim.x};
        if (k < n) sum[j] = a[k] + b[k];
    }
    for (int j = 0; j < 4; ++j) {
        const std::int64_t k = i + j * std::int64_t{blockDim.x};
        if (k < n) out[k] = sum[j];
    }
}
// [any address]

int main() {
    const std::int64_t n = 4000;  // a multiple of 4, so float4 covers all of it
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> in(n);
    for (std::int64_t i = 0; i < n; ++i) in[i] = static_cast<float>(i);
    float *a, *b, *out;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(a, in.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, in.data(), bytes, cudaMemcpyHostToDevice);
    int wrong = 0;
    for (const int step : {2, 3, 4}) {
        cudaMemset(out, 0xff, bytes);  // NaN: an element that is not written is detected
        if (step == 2) add_grid_stride<<<4, 256>>>(a, b, n, out);
        if (step == 3) {
            add_vectorized<<<4, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b),
                                       n / 4, reinterpret_cast<float4*>(out));
        }
        if (step == 4) add_any_address<<<4, 256>>>(a, b, n, out);
        std::vector<float> sums(n);
        cudaMemcpy(sums.data(), out, bytes, cudaMemcpyDeviceToHost);
        for (std::int64_t i = 0; i < n; ++i) wrong += sums[i] == 2.0f * in[i] ? 0 : 1;
    }
    std::printf("3 x %d sums by three kernels; wrong: %d.\n", static_cast<int>(n), wrong);
    cudaFree(a);
    cudaFree(b);
    cudaFree(out);
    return wrong == 0 ? 0 : 1;
}
