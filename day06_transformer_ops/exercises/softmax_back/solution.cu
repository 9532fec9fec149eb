// Exercise 11: softmax's way back, by rows.
// What it must do:  day06_transformer_ops/exercises/softmax_back/softmax_back.hpp
// The loop to port: day06_transformer_ops/exercises/softmax_back/softmax_back_cpu.cpp
// A hint:           common/learn hint day06 softmax_back
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/exercises/softmax_back/softmax_back.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;  // rows of a block

__global__ void softmax_back_kernel(const float* p, const float* grad, std::int64_t M,
                                    std::int64_t N, float* d_in) {
    // your code: one warp a row
    const int lane = threadIdx.x % 32;
    const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    if (m >= M) return;  // all lanes of the warp
    const float *of_p = p + m * N, *of_grad = grad + m * N;
    float delta = 0;
    for (std::int64_t j = lane; j < N; j += 32) delta += of_p[j] * of_grad[j];
    delta = gpu::warp_reduce(delta, gpu::Plus());
    for (std::int64_t i = lane; i < N; i += 32) {
        d_in[m * N + i] = of_p[i] * (of_grad[i] - delta);
    }
    // end of your code
}

}  // namespace

void softmax_back_cuda(View<const float> p, View<const float> grad, View<float> d_in,
                       gpu::Stream stream) {
    check_softmax_back(p, grad, d_in);
    if (d_in.size() == 0) return;
    const std::int64_t M = p.extent(0), N = p.extent(1);
    const unsigned grid = gpu::blocks_for(M, kWarps);
    softmax_back_kernel<<<grid, 32 * kWarps, 0, stream>>>(p.data, grad.data, M, N, d_in.data);
    gpu::check_launch("softmax_back_kernel", grid, 32 * kWarps);
}

}  // namespace sixdays::day06_transformer_ops
