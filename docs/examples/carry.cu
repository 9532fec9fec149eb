// Computes the numbers of the page to carry: offsets by the tensor helpers, sectors and bank
// wavefronts by counting the accesses of a warp on the emulator.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "common/emulator/trace.hpp"
#include "common/tensor/index.hpp"
#include "day01_flat_memory/offsets.hpp"

using namespace sixdays;

// [kernel]
__global__ void add(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
// [kernel]

bool adds(const std::int64_t n) {
    std::vector<float> host(n, 3.0f);
    float *a, *out;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    const float* b = a;
    // [launch]
    add<<<(n + 255) / 256, 256>>>(a, b, n, out);  // blocks, threads
    // [launch]
    cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(out);
    return std::count(host.begin(), host.end(), 6.0f) == n;
}

template <class T>
__global__ void load(const T* in, int first, int step, T* out) {
    out[threadIdx.x] = in[first + step * static_cast<int>(threadIdx.x)];
}
__global__ void load_shared(int step, float* out) {
    __shared__ float tile[33 * 32];
    for (int i = threadIdx.x; i < 33 * 32; i += 32) tile[i] = 0;
    __syncwarp();
    out[threadIdx.x] = tile[step * threadIdx.x];
}

// The load that wastes most is the one that a line is about.
emulator::LineTrace traced(emulator::Memory memory, const std::function<void()>& launch) {
    emulator::start_trace();
    launch();
    for (const auto& line : emulator::stop_trace()) {
        if (line.memory == memory && line.operation == emulator::Operation::load) return line;
    }
    return {};
}

// Device memory: 32 lanes load elements that start at `first` and are `step` apart.
template <class T>
void sectors(const char* what, int first, int step) {
    T* memory;
    cudaMalloc(&memory, 64 * 64 * sizeof(T));
    cudaMemset(memory, 0, 64 * 64 * sizeof(T));
    const auto line = traced(emulator::Memory::global,
                             [&] { load<<<1, 32>>>(memory, first, step, memory + 63 * 64); });
    const auto used = 100 * line.bytes_used / (32 * line.sectors);
    std::printf("  %-34s %7d %4d %%\n", what, static_cast<int>(line.sectors),
                static_cast<int>(used));
    cudaFree(memory);
}

// Shared memory: the number of wavefronts.
void passes(const char* what, int step) {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    const auto line = traced(emulator::Memory::shared, [&] { load_shared<<<1, 32>>>(step, out); });
    std::printf("  %-34s %10d\n", what, static_cast<int>(line.passes));
    cudaFree(out);
}

int main() {
    const std::int64_t T = 3, C = 4, n = day01_flat_memory::offset3(1, 2, 3, T, C);
    const Index back = unravel(n, Shape{2, T, C});
    std::printf("The numbers of the page to carry.\n\n1. Offset\n\n");
    std::printf("  x of shape (2, 3, 4): strides 12, 4, 1\n");
    std::printf("  x(1, 2, 3) is at 1*12 + 2*4 + 3*1 = %lld\n", static_cast<long long>(n));
    std::printf("  number %lld is x(%lld, %lld, %lld)\n", static_cast<long long>(n),
                static_cast<long long>(back[0]), static_cast<long long>(back[1]),
                static_cast<long long>(back[2]));
    std::printf("\n2. Sectors\n\n");
    std::printf("  %-34s sectors  used\n", "a warp loads");
    sectors<unsigned char>("32 neighbouring bytes", 0, 1);
    sectors<float>("32 neighbouring floats", 0, 1);
    sectors<float>("the same, one element later", 1, 1);
    sectors<float4>("32 neighbouring float4", 0, 1);
    sectors<float>("every second float", 0, 2);
    sectors<float>("a column, rows of 8 floats or more", 0, 64);
    sectors<float>("one float for all lanes", 0, 0);
    std::printf("\n3. Banks\n\n");
    std::printf("  %-34s wavefronts\n", "a warp reads from shared memory");
    passes("32 neighbouring floats", 1);
    passes("every second float", 2);
    passes("a column, rows of 32 floats", 32);
    passes("a column, rows of 33 floats", 33);
    passes("one float for all lanes", 0);
    return adds(1000) && adds(256) && adds(1) ? 0 : 1;
}
