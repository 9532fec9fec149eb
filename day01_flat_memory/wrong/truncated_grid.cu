// Wrong on purpose: n / 256 is not rounded up, so the elements of the last, partial block are never
// computed.
//
// case: every path of square, scale and saxpy equals the loop
// refused: Never written
#include <algorithm>
#include "common/gpu/launch.hpp"

#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * in[i];
    }
}

}  // namespace

void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    // [wrong]
    const unsigned grid = static_cast<unsigned>(std::max<std::int64_t>(1, n / 256));
    // [wrong]
    square_kernel<<<grid, 256, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, 256);
}

}  // namespace sixdays::day01_flat_memory
