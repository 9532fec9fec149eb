// Step 2: the host works first. simplify() drops and merges dims, so there is less to divide by,
// and each extent left becomes a FastDivisor: a multiplication and a shift. A number below 2^31
// fits in 32 bits; the offset may not, and stays in 64.
#include "common/gpu/launch.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [gather]
__global__ void gather_fast_division_kernel(const float* in, const __grid_constant__ Walk walk,
                                            float* out) {
    const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= walk.n) return;
    std::uint32_t rest = number;
    std::int64_t from = 0;
    for (int d = 0; d < kMaxRank; ++d) {  // innermost dim first
        if (d < walk.rank) {
            const std::uint32_t quotient = walk.extent[d].quotient(rest);
            const std::uint32_t index = rest - quotient * walk.extent[d].divisor;
            from += index * walk.stride[d];
            rest = quotient;
        }
    }
    out[number] = in[from];
}
// [gather]

}  // namespace

void gather_fast_division(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    if (out.size() == 0) return;
    const Walk walk = walk_of(in, out, WalkBy::element);
    const unsigned grid = gpu::blocks_for(walk.n, kThreads);
    gather_fast_division_kernel<<<grid, kThreads, 0, stream>>>(in.data, walk, out.data);
    gpu::check_launch("gather_fast_division_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
