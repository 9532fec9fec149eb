// Exercise 10: the gradient of a norm's weight.
// What it must do:  day06_transformer_ops/exercises/norm_weight/norm_weight.hpp
// The loop to port: day06_transformer_ops/exercises/norm_weight/norm_weight_cpu.cpp
// A hint:           common/learn hint day06 norm_weight
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/exercises/norm_weight/norm_weight.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void norm_weight_kernel(const float* in, const float* rows, const float* grad,
                                   std::int64_t M, std::int64_t C, float* d_weight) {
    // your code
    const std::int64_t c = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (c >= C) return;
    float sum = 0;
    for (std::int64_t m = 0; m < M; ++m) {
        const float z = (in[m * C + c] - rows[2 * m]) * rows[2 * m + 1];
        sum += grad[m * C + c] * z;
    }
    d_weight[c] += sum;
    // end of your code
}

}  // namespace

void norm_weight_cuda(View<const float> in, View<const float> rows, View<const float> grad,
                      View<float> d_weight, gpu::Stream stream) {
    check_norm_weight(in, rows, grad, d_weight);
    if (in.size() == 0) return;
    const std::int64_t M = in.extent(0), C = in.extent(1);
    // your code: how many blocks of kThreads threads
    // stub: const unsigned grid = 1;
    const unsigned grid = gpu::blocks_for(C, kThreads);
    // end of your code
    norm_weight_kernel<<<grid, kThreads, 0, stream>>>(in.data, rows.data, grad.data, M, C,
                                                      d_weight.data);
    gpu::check_launch("norm_weight_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
