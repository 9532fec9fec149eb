// The loop over t has become the threads; the loop over j stays a loop, inside of each.
// A view goes to a kernel by value: a pointer and 18 numbers, read from the kernel's arguments.
#include "day02_strides/sweep.hpp"

#include <cstdint>

#include "common/gpu/launch.hpp"

namespace sixdays::day02_strides {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// Four bytes a thread on their way would be 8 KiB a multiprocessor full of 2,048 threads; an H200
// needs about 48. So eight elements are asked for before the first is added, 64 KiB. They are still
// added in the loop's order, so the sum has the loop's bits.
constexpr int kInFlight = 8;

// [sum_columns]
__global__ void sum_columns_kernel(const __grid_constant__ View<const float> in, float* out) {
    const std::int64_t J = in.extent(0), T = in.extent(1);
    const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t >= T) return;
    float sum = 0;
    std::int64_t j = 0;
    for (; j + kInFlight <= J; j += kInFlight) {
        float x[kInFlight];
        for (int u = 0; u < kInFlight; ++u) x[u] = in(j + u, t);
        for (int u = 0; u < kInFlight; ++u) sum += x[u];
    }
    for (; j < J; ++j) sum += in(j, t);
    out[t] = sum;
}
// [sum_columns]

// Nobody waits for a store, so here one at a time is enough.
// [ramp]
__global__ void ramp_kernel(const __grid_constant__ View<float> out) {
    const std::int64_t J = out.extent(0), T = out.extent(1);
    const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t >= T) return;
    for (std::int64_t j = 0; j < J; ++j) {
        out(j, t) = static_cast<float>(j * T + t);
    }
}
// [ramp]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

void sum_columns_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_sum_columns(in, out);
    const std::int64_t T = out.extent(0);
    if (T == 0) return;
    const unsigned grid = gpu::blocks_for(T, kThreads);
    sum_columns_kernel<<<grid, kThreads, 0, stream>>>(in, out.data);
    gpu::check_launch("sum_columns_kernel", grid, kThreads);
}

void ramp_cuda(View<float> out, gpu::Stream stream) {
    check_ramp(out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.extent(1), kThreads);
    ramp_kernel<<<grid, kThreads, 0, stream>>>(out);
    gpu::check_launch("ramp_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
