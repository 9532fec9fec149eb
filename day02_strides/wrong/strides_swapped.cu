// Wrong on purpose: dim 0 walks with the stride of dim 1 and the other way round. A row-major
// matrix is read as a column-major one; only a square symmetric one would not notice.
//
// case: sum_columns reads a broadcast row and a broadcast element
// case: sum_columns and ramp equal their loops, in every layout
// refused: cudaErrorIllegalAddress
// refused: expected 5, got 15. 15 is the expected value of (2).
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void sum_columns_kernel(const __grid_constant__ View<const float> in, float* out) {
    const std::int64_t J = in.extent(0), T = in.extent(1);
    const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t >= T) return;
    float sum = 0;
    for (std::int64_t j = 0; j < J; ++j) {
        // [wrong]
        sum += in.data[j * in.stride(1) + t * in.stride(0)];
        // [wrong]
    }
    out[t] = sum;
}

}  // namespace

void sum_columns_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_sum_columns(in, out);
    const std::int64_t T = out.extent(0);
    if (T == 0) return;
    const unsigned grid = gpu::blocks_for(T, 256);
    sum_columns_kernel<<<grid, 256, 0, stream>>>(in, out.data);
    gpu::check_launch("sum_columns_kernel", grid, 256);
}

}  // namespace sixdays::day02_strides
