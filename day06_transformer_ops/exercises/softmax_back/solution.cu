// Exercise 13: softmax's backward pass.
// Specification:    day06_transformer_ops/exercises/softmax_back/softmax_back.hpp
// CPU reference:    day06_transformer_ops/exercises/softmax_back/softmax_back_cpu.cpp
// Hints:            common/learn hint day06 softmax_back
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/exercises/softmax_back/softmax_back.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;  // rows per block

__global__ void softmax_back_kernel(const float* p, const float* grad, std::int64_t M,
                                    std::int64_t N, float* d_in) {
    // your code: one warp per row
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
    // wrong: const int lane = threadIdx.x % 32;
    // wrong: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong: if (m >= M) return;
    // wrong: const float *of_p = p + m * N, *of_grad = grad + m * N;
    // wrong: float delta = 0;
    // wrong: for (std::int64_t j = lane; j < N; j += 32) delta += of_p[j] * of_grad[j];
    // wrong: delta = gpu::warp_reduce(delta, gpu::Plus());
    // wrong: for (std::int64_t i = lane; i < N; i += 32) {
    // wrong:     d_in[m * N + i] = of_grad[i] - of_p[i] * delta;
    // wrong: }
    // wrong 2345: const int lane = threadIdx.x % 32;
    // wrong 2345: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 2345: if (m >= M) return;
    // wrong 2345: const float *of_p = p + m * N, *of_grad = grad + m * N;
    // wrong 2345: float delta = 0;
    // wrong 245: for (std::int64_t j = lane; j < N; j += 32) delta += of_p[j] * of_grad[j];
    // wrong 3: for (std::int64_t j = lane; j < N; j += 32) delta += of_grad[j];
    // wrong 2345: delta = gpu::warp_reduce(delta, gpu::Plus());
    // wrong 2: for (std::int64_t i = lane; i < N; i += 32) {
    // wrong 2:     d_in[m * N + i] = of_p[i] * (1 - delta);
    // wrong 2: }
    // wrong 3: for (std::int64_t i = lane; i < N; i += 32) {
    // wrong 3:     d_in[m * N + i] = of_p[i] * (of_grad[i] - delta);
    // wrong 3: }
    // wrong 4: for (std::int64_t i = lane; i < N; i += 32) {
    // wrong 4:     d_in[m * N + i] = of_p[i] * of_grad[i] * (1 - of_p[i]) - of_p[i] * delta;
    // wrong 4: }
    // wrong 5: for (std::int64_t i = lane; i < N; i += 32) {
    // wrong 5:     d_in[m * N + i] = of_p[i] * (delta - of_grad[i]);
    // wrong 5: }
    // told: p(i) multiplies only delta
    // told 2: grad(i) is missing
    // told 3: The plain sum of grad was subtracted
    // told 4: The term of j = i is counted twice
    // told 5: The sign is wrong
    // wrong 6: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 6: if (m >= M) return;
    // wrong 6: float delta = 0;
    // wrong 6: for (std::int64_t j = threadIdx.x % 32; j < N; j += 32) delta += p[m * N + j] * grad[m * N + j];
    // wrong 6: delta = gpu::warp_reduce(delta, gpu::Plus());
    // wrong 6: for (std::int64_t i = threadIdx.x % 32; i < N; i += 32) {
    // wrong 6: d_in[m * N + i] = p[m * N + i] * (grad[m * N + i] + delta);
    // wrong 6: }
    // wrong 7: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 7: if (m >= M) return;
    // wrong 7: float delta = 0;
    // wrong 7: for (std::int64_t i = 0; i < N; ++i) delta += p[m * N + i] * grad[m * N + i];
    // wrong 7: for (std::int64_t i = 0; i < N; ++i) {
    // wrong 7: d_in[m * N + i] = p[m * N + i] * (grad[m * N + i] - delta);
    // wrong 7: }
    // told 7: all 32 lanes process the whole row
    // told 6: The sum over j was added instead of subtracted
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
