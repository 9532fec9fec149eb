// The ports: one iteration of the loop has become one thread. The grid is rounded up to whole
// blocks, so the last block has threads without an element; the guard `i < n` keeps them still.
#include "day01_flat_memory/elementwise.hpp"

#include <cmath>
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {

// --- kernels -------------------------------------------------------------------------------------
namespace {

// [square]
__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * in[i];
    }
}
// [square]

// [scale]
__global__ void scale_kernel(float alpha, const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = alpha * in[i];
    }
}
// [scale]

// [saxpy]
__global__ void saxpy_kernel(float alpha, const float* x, const float* y, std::int64_t n,
                             float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = std::fma(alpha, x[i], y[i]);
    }
}
// [saxpy]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;  // a block: 8 warps of 32 threads

}  // namespace

// [launch]
void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;  // a grid of 0 blocks is an error, not an empty launch
    const unsigned grid = gpu::blocks_for(n, kThreads);
    square_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, kThreads);
}
// [launch]

void scale_cuda(float alpha, View<const float> in, View<float> out, gpu::Stream stream) {
    check_scale(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    scale_kernel<<<grid, kThreads, 0, stream>>>(alpha, in.data, n, out.data);
    gpu::check_launch("scale_kernel", grid, kThreads);
}

void saxpy_cuda(float alpha, View<const float> x, View<const float> y, View<float> out,
                gpu::Stream stream) {
    check_saxpy(x, y, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    saxpy_kernel<<<grid, kThreads, 0, stream>>>(alpha, x.data, y.data, n, out.data);
    gpu::check_launch("saxpy_kernel", grid, kThreads);
}

// The ladder's two best: one for pointers that agree on a multiple of 16, one for all others.
void add_cuda(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream) {
    switch (choose_add(a, b, out)) {
        case AddPath::sixteen_bytes:
            return add_two_in_flight(a, b, out, stream);
        case AddPath::any_address:
            return add_any_address(a, b, out, stream);
    }
}

}  // namespace sixdays::day01_flat_memory
