// Step 4: each thread issues eight 4-byte loads before its first store. At the measured occupancy
// of 75 % (1,536 threads) that is 48 KiB in flight per SM; one load per thread would be 6 KiB.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day02_strides/steps/pack/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 8;

// A block owns kInFlight * blockDim.x elements of the output. A thread takes every blockDim.x-th of
// them, so the lanes of a warp write neighbouring elements. Past the end the last element is loaded
// again: that is cheap, and no load waits for a branch.
// [pack]
template <int RANK>
__global__ void pack_in_flight_kernel(  // out row-major
    const float* in, const __grid_constant__ Walk<RANK, 1> walk, float* out) {
    const std::uint32_t first = blockIdx.x * blockDim.x * kInFlight + threadIdx.x;
    float x[kInFlight];
    for (int u = 0; u < kInFlight; ++u) {
        const std::uint32_t number = first + u * blockDim.x;
        const std::uint32_t last = walk.size - 1;
        x[u] = in[walk.offsets(number < last ? number : last).of[0]];
    }
    for (int u = 0; u < kInFlight; ++u) {
        const std::uint32_t number = first + u * blockDim.x;
        if (number < walk.size) out[number] = x[u];
    }
}
// [pack]

}  // namespace

void pack_in_flight(const float* in, const Layout& walk, float* out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(walk.size(), kInFlight * kThreads);
    with_rank(walk.rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 1> by_value({walk});
        pack_in_flight_kernel<RANK><<<grid, kThreads, 0, stream>>>(in, by_value, out);
    });
    gpu::check_launch("pack_in_flight_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
