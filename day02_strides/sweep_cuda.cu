// The naive kernels, and the launchers. The loop over k becomes the threads; the loop over m stays
// a loop in each thread. A view is passed to a kernel by value: a pointer and 18 numbers, read from
// the kernel's arguments.
#include "day02_strides/sweep.hpp"

#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day02_strides/steps/sum_columns/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [sum_columns]
__global__ void sum_columns_kernel(const __grid_constant__ View<const float> in,
                                   const __grid_constant__ View<float> out) {
    const std::int64_t M = in.extent(0), K = in.extent(1);
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < K) {
        float sum = 0;
        for (std::int64_t m = 0; m < M; ++m) sum += in(m, k);
        out(k) = sum;
    }
}
// [sum_columns]

// A thread does not wait for its stores, so one at a time is enough.
__global__ void ramp_kernel(const __grid_constant__ View<float> out) {
    const std::int64_t M = out.extent(0), K = out.extent(1);
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < K) {
        for (std::int64_t m = 0; m < M; ++m) {
            out(m, k) = static_cast<float>(m * K + k);
        }
    }
}

void sum_columns_one_load(const View<const float>& in, const View<float>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(in.extent(1), kThreads);
    sum_columns_kernel<<<grid, kThreads, 0, stream>>>(in, out);
    gpu::check_launch("sum_columns_kernel", grid, kThreads);
}

}  // namespace

void sum_columns_cuda(View<const float> in, View<float> out,
                      const gpu::Launch<SumColumnsPath>& how) {
    check_sum_columns(in, out, how.path);
    if (out.size() == 0) return;
    const gpu::Stream stream = how.stream;
    switch (how.path.value_or(choose_sum_columns(in))) {
        case SumColumnsPath::one_load:
            return sum_columns_one_load(in, out, stream);
        case SumColumnsPath::in_flight:
            return sum_columns_in_flight(in, out.data, stream);
    }
}

void ramp_cuda(View<float> out, gpu::Stream stream) {
    check_ramp(out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.extent(1), kThreads);
    ramp_kernel<<<grid, kThreads, 0, stream>>>(out);
    gpu::check_launch("ramp_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
