// Step 3: one kernel per rank. With the rank known at compile time, two dimensions need one
// division instead of seven. The outermost needs none: the last quotient is its index.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day02_strides/steps/pack/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [pack]
template <int RANK>
__global__ void pack_by_rank_kernel(  // out row-major
    const float* in, const __grid_constant__ Walk<RANK, 1> walk, float* out) {
    const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number < walk.size) {
        out[number] = in[walk.offsets(number).of[0]];
    }
}
// [pack]

}  // namespace

void pack_by_rank(const float* in, const Layout& walk, float* out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(walk.size(), kThreads);
    with_rank(walk.rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 1> by_value({walk});
        pack_by_rank_kernel<RANK><<<grid, kThreads, 0, stream>>>(in, by_value, out);
    });
    gpu::check_launch("pack_by_rank_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
