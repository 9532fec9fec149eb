// Step 2: precompute on the host. simplify() has dropped and merged dimensions, so there are fewer
// divisions, and a Walk holds each remaining extent as a FastDivisor: a multiplication and a shift.
// A flat index below 2^31 fits in 32 bits. The offset may not, and stays in 64.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day02_strides/steps/pack/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [pack]
__global__ void pack_fast_division_kernel(  // out row-major
    const float* in, const __grid_constant__ Walk<kMaxRank, 1> walk, float* out) {
    const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number < walk.size) {
        out[number] = in[walk.offsets(number).of[0]];
    }
}
// [pack]

}  // namespace

void pack_fast_division(const float* in, const Layout& walk, float* out, gpu::Stream stream) {
    const Walk<kMaxRank, 1> by_value({walk});  // padded to 8 dimensions with extents of 1
    const unsigned grid = gpu::blocks_for(walk.size(), kThreads);
    pack_fast_division_kernel<<<grid, kThreads, 0, stream>>>(in, by_value, out);
    gpu::check_launch("pack_fast_division_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
