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

// [add]
__global__ void add_kernel(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
// [add]

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

Path choose(const View<const float>& a, const View<const float>& b, const View<float>& out) {
    const auto past_multiple_of_16 = [](const float* p) {
        return reinterpret_cast<std::uintptr_t>(p) % 16;
    };
    const bool alike = past_multiple_of_16(a.data) == past_multiple_of_16(out.data) &&
                       past_multiple_of_16(b.data) == past_multiple_of_16(out.data);
    return alike ? Path::sixteen_bytes : Path::any_address;
}

const char* name(Path path) {
    return path == Path::sixteen_bytes ? "16 bytes a load" : "single elements";
}

// [launch]
void add_one_element(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;  // a grid of 0 blocks is an error, not an empty launch
    const unsigned grid = gpu::blocks_for(n, kThreads);
    add_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, out.data);
    gpu::check_launch("add_kernel", grid, kThreads);
}
// [launch]

void add_cuda(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream) {
    check_add(a, b, out);
    switch (choose(a, b, out)) {
        case Path::sixteen_bytes:
            return add_two_in_flight(a, b, out, stream);
        case Path::any_address:
            return add_any_address(a, b, out, stream);
    }
}

void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    square_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, kThreads);
}

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

}  // namespace sixdays::day01_flat_memory
