// The kernels that measure copy, read, write and FMA. See gpu_limits.hpp.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "common/bench/gpu_limits.hpp"
#include "common/bench/measure.hpp"
#include "common/gpu/buffer.hpp"
#include "common/gpu/check.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/launch.hpp"

namespace sixdays::bench {

using gpu::blocks_for, gpu::Buffer, gpu::check_launch, gpu::device;

namespace {

constexpr int kThreads = 256;

// Each thread copies PER_THREAD float4s, a block's width apart: all loads, then all stores.
template <int PER_THREAD>
__global__ void copy_kernel(const float4* in, std::int64_t vectors, float4* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * PER_THREAD + threadIdx.x;
    float4 value[PER_THREAD];
    for (int j = 0; j < PER_THREAD; ++j) {
        if (i + j * kThreads < vectors) value[j] = in[i + j * kThreads];
    }
    for (int j = 0; j < PER_THREAD; ++j) {
        if (i + j * kThreads < vectors) out[i + j * kThreads] = value[j];
    }
}

template <int PER_THREAD>
__global__ void write_kernel(float number, std::int64_t vectors, float4* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * PER_THREAD + threadIdx.x;
    for (int j = 0; j < PER_THREAD; ++j) {
        if (i + j * kThreads < vectors) {
            out[i + j * kThreads] = make_float4(number, number, number, number);
        }
    }
}

// Reads everything and writes nothing: a thread stores its sum only if it equals `never`.
template <int PER_THREAD>
__global__ void sum_kernel(const float4* in, std::int64_t vectors, float never, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * PER_THREAD + threadIdx.x;
    float4 value[PER_THREAD];
    for (int j = 0; j < PER_THREAD; ++j) {
        const bool inside = i + j * kThreads < vectors;
        value[j] = inside ? in[i + j * kThreads] : make_float4(0, 0, 0, 0);
    }
    float sum = 0;
    for (int j = 0; j < PER_THREAD; ++j) {
        sum += (value[j].x + value[j].y) + (value[j].z + value[j].w);
    }
    if (sum == never) out[0] = sum;
}

// Eight independent chains per thread hide the latency of an FMA.
constexpr int kChains = 8;
constexpr int kSteps = 4096;

__global__ void fma_kernel(float a, float b, float never, float* out) {
    float x[kChains];
    for (int j = 0; j < kChains; ++j) x[j] = static_cast<float>(threadIdx.x + j);
#pragma unroll 16
    for (int step = 0; step < kSteps; ++step) {
        for (int j = 0; j < kChains; ++j) x[j] = fmaf(x[j], a, b);
    }
    float sum = 0;
    for (int j = 0; j < kChains; ++j) sum += x[j];
    if (sum == never) out[0] = sum;
}

// One block per SM; block 0 counts its cycles from the first thread's start to the last one's end.
__global__ void clock_kernel(float a, float b, float never, long long* cycles, float* out) {
    const long long start = clock64();
    float x[kChains];
    for (int j = 0; j < kChains; ++j) x[j] = static_cast<float>(threadIdx.x + j);
#pragma unroll 16
    for (int step = 0; step < 8 * kSteps; ++step) {
        for (int j = 0; j < kChains; ++j) x[j] = fmaf(x[j], a, b);
    }
    float sum = 0;
    for (int j = 0; j < kChains; ++j) sum += x[j];
    if (sum == never) out[0] = sum;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) *cycles = clock64() - start;
}

// Amount per second of the fastest variant, by median time.
double best(double amount, std::initializer_list<std::function<void()>> variants) {
    double rate = 0;
    for (const auto& variant : variants) {
        rate = std::max(rate, amount / gpu_seconds(7, variant).median);
    }
    return rate;
}

}  // namespace

Limits measure_gpu_limits() {
    std::size_t free = 0, total = 0;
    SIXDAYS_CUDA(cudaMemGetInfo(&free, &total));
    const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 30, free / 3 / 16 * 16);
    const std::int64_t vectors = static_cast<std::int64_t>(bytes / sizeof(float4));
    Buffer<float4> from(vectors), to(vectors);
    Buffer<float> flag(1);
    from.fill_bytes(0x3f);  // 0.747 in every float
    to.fill_bytes(0);

    const auto grid = [&](int per_thread) { return blocks_for(vectors, kThreads * per_thread); };
    const auto* in = from.data();
    auto* out = to.data();
    const double moved = static_cast<double>(bytes);

    Limits limits;
    limits.whose = "this GPU";
    limits.copy =
        best(2 * moved,
             {
                 [&] { copy_kernel<1><<<grid(1), kThreads>>>(in, vectors, out); },
                 [&] { copy_kernel<2><<<grid(2), kThreads>>>(in, vectors, out); },
                 [&] { copy_kernel<4><<<grid(4), kThreads>>>(in, vectors, out); },
                 [&] { SIXDAYS_CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice)); },
             });
    limits.read = best(
        moved, {
                   [&] { sum_kernel<2><<<grid(2), kThreads>>>(in, vectors, -1.0f, flag.data()); },
                   [&] { sum_kernel<4><<<grid(4), kThreads>>>(in, vectors, -1.0f, flag.data()); },
                   [&] { sum_kernel<8><<<grid(8), kThreads>>>(in, vectors, -1.0f, flag.data()); },
               });
    limits.write =
        best(moved, {
                        [&] { write_kernel<1><<<grid(1), kThreads>>>(1.0f, vectors, out); },
                        [&] { write_kernel<2><<<grid(2), kThreads>>>(1.0f, vectors, out); },
                        [&] { write_kernel<4><<<grid(4), kThreads>>>(1.0f, vectors, out); },
                    });
    const unsigned blocks = static_cast<unsigned>(device().multiprocessors) * 32;
    const double flops = 2.0 * kChains * kSteps * kThreads * blocks;
    limits.fma = best(
        flops, {
                   [&] { fma_kernel<<<blocks, kThreads>>>(0.999f, 0.001f, -1.0f, flag.data()); },
               });
    check_launch("the kernels of measure_gpu_limits", dim3(grid(1)), dim3(kThreads));
    return limits;
}

double measure_gpu_clock() {
    Buffer<long long> cycles(1);
    Buffer<float> flag(1);
    const auto blocks = static_cast<unsigned>(device().multiprocessors);
    const double seconds =
        gpu_seconds(1, [&] {
            clock_kernel<<<blocks, 1024>>>(0.999f, 0.001f, -1.0f, cycles.data(), flag.data());
        }).median;
    check_launch("clock_kernel", dim3(blocks), dim3(1024));
    return static_cast<double>(cycles.download()[0]) / seconds;
}

}  // namespace sixdays::bench
