// Exercise 12: the gradient of layer norm's weight.
// Specification:    day06_transformer_ops/exercises/norm_weight/norm_weight.hpp
// CPU reference:    day06_transformer_ops/exercises/norm_weight/norm_weight_cpu.cpp
// Hints:            common/learn hint day06 norm_weight
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
    // wrong: const std::int64_t c = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    // wrong: if (c >= C) return;
    // wrong: float sum = 0;
    // wrong: for (std::int64_t m = 0; m < M; ++m) {
    // wrong:     sum += grad[m * C + c] * (in[m * C + c] - rows[2 * m]) * rows[2 * m + 1];
    // wrong: }
    // wrong: d_weight[c] += sum;
    // wrong 3467: const std::int64_t c = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    // wrong 3467: if (c >= C) return;
    // wrong 3467: float sum = 0;
    // wrong 3467: for (std::int64_t m = 0; m < M; ++m) {
    // wrong 3:     sum += grad[m * C + c] * (in[m * C + c] - rows[m]) * rows[m + 1];
    // wrong 4:     sum += grad[m * C + c] * (in[m * C + c] - rows[m]) * rows[M + m];
    // wrong 7:     sum += grad[m * C + c] * (in[m * C + c] - rows[2 * m]) / rows[2 * m + 1];
    // wrong 6:     sum += grad[m * C + c] * (in[m * C + c] - rows[2 * m]) * rows[2 * m + 1];
    // wrong 3467: }
    // wrong 3467: d_weight[c] += sum;
    // wrong 5: const std::int64_t m = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    // wrong 5: if (m >= M) return;
    // wrong 5: for (std::int64_t c = 0; c < C; ++c) {
    // wrong 5:     const float z = (in[m * C + c] - rows[2 * m]) * rows[2 * m + 1];
    // wrong 5:     atomicAdd(&d_weight[c], grad[m * C + c] * z);
    // wrong 5: }
    // told: the grid has blocks without any work
    // told 2: Nothing was added
    // told 3: Mean and scale of a row are adjacent
    // told 4: Mean and scale of a row are adjacent
    // told 5: Only the first 128 rows were added
    // told 7: was divided by the scale
    // told 6: the grid has blocks without any work
    // end of your code
}

}  // namespace

void norm_weight_cuda(View<const float> in, View<const float> rows, View<const float> grad,
                      View<float> d_weight, gpu::Stream stream) {
    check_norm_weight(in, rows, grad, d_weight);
    if (in.size() == 0) return;
    const std::int64_t M = in.extent(0), C = in.extent(1);
    // your code: how many blocks of kThreads threads?
    // stub: const unsigned grid = 1;
    const unsigned grid = gpu::blocks_for(C, kThreads);
    // wrong: const unsigned grid = gpu::blocks_for(M * C, kThreads);
    // wrong 2347: const unsigned grid = gpu::blocks_for(C, kThreads);
    // wrong 5: const unsigned grid = 1;
    // wrong 6: const auto grid = static_cast<unsigned>((C + kThreads) / kThreads + 1);
    // end of your code
    norm_weight_kernel<<<grid, kThreads, 0, stream>>>(in.data, rows.data, grad.data, M, C,
                                                      d_weight.data);
    gpu::check_launch("norm_weight_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
