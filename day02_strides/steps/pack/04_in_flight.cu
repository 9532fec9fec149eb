// Step 4: eight loads of 4 bytes a thread in flight before the first is stored: 64 KiB a
// multiprocessor of 2,048 threads, where one load each would be 8.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day02_strides/steps/pack/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 8;

// A block owns kInFlight * blockDim.x elements of the output; a thread takes every blockDim.x-th of
// them, so the lanes of a warp stay neighbours. Beyond the end the last element is read once more:
// that costs nothing, and no load waits behind an `if`.
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
