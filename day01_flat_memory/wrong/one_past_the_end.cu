// Wrong on purpose: `i <= n` lets one thread too many through.
//
// case: every path of square, scale and saxpy equals the loop
// refused: cudaErrorIllegalAddress
// refused: one past its end
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // [wrong]
    if (i <= n) {
        out[i] = in[i] * in[i];  // <- here
    }
    // [wrong]
}

}  // namespace

void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, 256);
    square_kernel<<<grid, 256, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, 256);
}

}  // namespace sixdays::day01_flat_memory
