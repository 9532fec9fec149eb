// Step 2: four bytes per thread would be 8 KiB in flight per SM of 2,048 threads; an H200 needs
// about 48 KiB. So eight elements are loaded before the first is added: 64 KiB. They are still
// added in the loop's order, so the sum has the same bits.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day02_strides/steps/sum_columns/steps.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

__global__ void sum_columns_in_flight_kernel(const __grid_constant__ View<const float> in,
                                             float* out) {
    const std::int64_t M = in.extent(0), K = in.extent(1);
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= K) return;
    float sum = 0;
    std::int64_t m = 0;
    for (; m + kLoadsInFlight <= M; m += kLoadsInFlight) {
        float x[kLoadsInFlight];
        for (int u = 0; u < kLoadsInFlight; ++u) x[u] = in(m + u, k);
        for (int u = 0; u < kLoadsInFlight; ++u) sum += x[u];
    }
    for (; m < M; ++m) sum += in(m, k);
    out[k] = sum;
}

}  // namespace

void sum_columns_in_flight(const View<const float>& in, float* out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(in.extent(1), kThreads);
    sum_columns_in_flight_kernel<<<grid, kThreads, 0, stream>>>(in, out);
    gpu::check_launch("sum_columns_in_flight_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
