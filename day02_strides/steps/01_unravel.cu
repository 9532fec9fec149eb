// Step 1: one thread, one element. The loop's body with its `for` replaced by a thread's number.
// unravel() divides once per dim, in 64 bits: a long way to go for 8 bytes.
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [gather]
__global__ void gather_unravel_kernel(const __grid_constant__ View<const float> in, std::int64_t n,
                                      float* out) {
    const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (number < n) {
        const Index index = unravel(number, in.layout.shape);
        out[number] = in.data[offset(in.layout, index)];
    }
}
// [gather]

}  // namespace

void gather_unravel(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    gather_unravel_kernel<<<grid, kThreads, 0, stream>>>(in, n, out.data);
    gpu::check_launch("gather_unravel_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
