// Step 5: the same walk by quads, where the innermost dim is made of aligned runs of four floats. A
// quarter of the divisions moves the same bytes, two loads of 16 bytes a thread in flight.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/tensor/quads.hpp"
#include "common/tensor/walk.hpp"
#include "day02_strides/steps/pack/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 2;

// A block owns kInFlight * blockDim.x quads of the output; a thread takes every blockDim.x-th of
// them, so the lanes of a warp stay neighbours. Beyond the end the last quad is read once more:
// that costs nothing, and no load waits behind an `if`.
// [pack]
template <int RANK>
__global__ void pack_quads_kernel(const float4* in, const __grid_constant__ Walk<RANK, 1> walk,
                                  float4* out) {
    const std::uint32_t first = blockIdx.x * blockDim.x * kInFlight + threadIdx.x;
    float4 x[kInFlight];
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

void pack_quads(const float* in, const Layout& walk, float* out, gpu::Stream stream) {
    const float4* in4 = reinterpret_cast<const float4*>(in);
    float4* out4 = reinterpret_cast<float4*>(out);
    const Layout by_quads = wider(walk, 4);
    const unsigned grid = gpu::blocks_for(by_quads.size(), kInFlight * kThreads);
    with_rank(by_quads.rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 1> by_value({by_quads});
        pack_quads_kernel<RANK><<<grid, kThreads, 0, stream>>>(in4, by_value, out4);
    });
    gpu::check_launch("pack_quads_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
