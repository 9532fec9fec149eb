// Exercise 1: softmax of every row, by a warp.
// What it must do:  day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp
// The loop to port: day06_transformer_ops/exercises/softmax_rows/softmax_rows_cpu.cpp
// A hint:           common/learn hint day06 softmax_rows
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;  // rows of a block

__global__ void softmax_rows_kernel(const float* in, std::int64_t M, std::int64_t N, float* out) {
    // your code: one warp a row, 32 elements at a time
    // end of your code
}

}  // namespace

void softmax_rows_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_softmax_rows(in, out);
    if (out.size() == 0) return;
    const std::int64_t M = in.extent(0), N = in.extent(1);
    const unsigned grid = gpu::blocks_for(M, kWarps);
    softmax_rows_kernel<<<grid, 32 * kWarps, 0, stream>>>(in.data, M, N, out.data);
    gpu::check_launch("softmax_rows_kernel", grid, 32 * kWarps);
}

}  // namespace sixdays::day06_transformer_ops
