// Adding two vectors in plain CUDA without the course's headers: one file, one command.
//
//     nvcc standalone.cu && ./a.out                         with the CUDA Toolkit and a GPU
//     common/learn try day01_flat_memory/standalone.cu      without either
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Every CUDA call returns a status. If you do not check it, an error goes unnoticed.
void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// [kernel]
__global__ void add(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
// [kernel]

int main() {
    const std::int64_t n = 1000;
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), out(n);
    for (std::int64_t i = 0; i < n; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(2 * i);
    }

    // [device]
    // 1. Allocate: three arrays of n floats in GPU memory.
    float *da, *db, *dout;
    check(cudaMalloc(&da, bytes), "cudaMalloc a");
    check(cudaMalloc(&db, bytes), "cudaMalloc b");
    check(cudaMalloc(&dout, bytes), "cudaMalloc out");

    // 2. Copy the inputs there.
    check(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice), "copying a");
    check(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice), "copying b");

    // 3. Launch: blocks of 256 threads, and enough blocks for n threads, rounded up.
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((n + threads - 1) / threads);
    add<<<blocks, threads>>>(da, db, n, dout);

    // 4. Check twice: was the launch accepted, and did the kernel finish without error?
    check(cudaGetLastError(), "launching add");
    check(cudaDeviceSynchronize(), "running add");

    // 5. Copy the result back.
    check(cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost), "copying out");
    // [device]

    // 6. Check every element.
    for (std::int64_t i = 0; i < n; ++i) {
        const float wanted = a[i] + b[i];
        if (!(out[i] == wanted)) {
            std::printf("out[%lld] is %g, not %g\n", static_cast<long long>(i), out[i], wanted);
            return 1;
        }
    }
    std::printf("All %lld sums are right; the last is %g.\n", static_cast<long long>(n),
                out.back());

    // 7. Free the memory.
    check(cudaFree(da), "cudaFree a");
    check(cudaFree(db), "cudaFree b");
    check(cudaFree(dout), "cudaFree out");
}
