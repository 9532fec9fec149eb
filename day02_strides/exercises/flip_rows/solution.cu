// Exercise 6: reverse the rows of a matrix through its strides.
// Specification:    day02_strides/exercises/flip_rows/flip_rows.hpp
// CPU reference:    day02_strides/exercises/flip_rows/flip_rows_cpu.cpp
// Hints:            common/learn hint day02 flip_rows
#include "common/gpu/launch.hpp"
#include "day02_strides/exercises/flip_rows/flip_rows.hpp"

namespace sixdays::day02_strides {
namespace {

// Copies between any two layouts.
__global__ void copy_kernel(const __grid_constant__ View<const float> in,
                            const __grid_constant__ View<float> out) {
    // your code: which row m and which column k does this thread copy?
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < out.extent(0) && k < out.extent(1)) {
        out(m, k) = in(m, k);
    }
    // end of your code
}

}  // namespace

void flip_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_flip_rows(in, out);
    const std::int64_t M = out.extent(0), K = out.extent(1);
    if (M == 0 || K == 0) return;
    View<const float> flipped = in;
    // your code: where does the flipped view begin, and what is its row stride?
    flipped.data = in.data + (M - 1) * in.stride(0);
    flipped.stride(0) = -in.stride(0);
    // end of your code
    const dim3 block(32, 8);  // 32 columns, 8 rows
    const dim3 grid(gpu::blocks_for(K, 32), gpu::blocks_for(M, 8));
    copy_kernel<<<grid, block, 0, stream>>>(flipped, out);
    gpu::check_launch("copy_kernel", grid, block);
}

}  // namespace sixdays::day02_strides
