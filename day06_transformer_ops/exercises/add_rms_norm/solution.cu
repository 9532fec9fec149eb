// Exercise 7: add to the residual stream, then RMS norm.
// Specification:    day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp
// CPU reference:    day06_transformer_ops/exercises/add_rms_norm/add_rms_norm_cpu.cpp
// Hints:            common/learn hint day06 add_rms_norm
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;  // rows per block

__global__ void add_rms_norm_kernel(const float* in, const float* weight, float eps, std::int64_t M,
                                    std::int64_t C, float* residual, float* out) {
    // your code: one warp per row, and gpu::warp_reduce(squares, gpu::Plus()) between two passes
    const int lane = threadIdx.x % 32;
    const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    if (m >= M) return;  // all lanes of the warp
    float squares = 0;
    for (std::int64_t c = lane; c < C; c += 32) {
        const float sum = residual[m * C + c] + in[m * C + c];
        residual[m * C + c] = sum;
        squares += sum * sum;
    }
    squares = gpu::warp_reduce(squares, gpu::Plus());
    const float scale = 1 / sqrtf(squares / static_cast<float>(C) + eps);
    for (std::int64_t c = lane; c < C; c += 32) {
        out[m * C + c] = residual[m * C + c] * scale * weight[c];
    }
    // wrong: const int lane = threadIdx.x % 32;
    // wrong: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong: if (m >= M) return;
    // wrong: float mine = 0, squares = 0;
    // wrong: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong:     mine += residual[m * C + c] += in[m * C + c];
    // wrong: }
    // wrong: const float mean = gpu::warp_reduce(mine, gpu::Plus()) / static_cast<float>(C);
    // wrong: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong:     const float left = residual[m * C + c] - mean;
    // wrong:     squares += left * left;
    // wrong: }
    // wrong: squares = gpu::warp_reduce(squares, gpu::Plus());
    // wrong: const float scale = 1 / sqrtf(squares / static_cast<float>(C) + eps);
    // wrong: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong:     out[m * C + c] = (residual[m * C + c] - mean) * scale * weight[c];
    // wrong: }
    // wrong 234567: const int lane = threadIdx.x % 32;
    // wrong 234567: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 234567: if (m >= M) return;
    // wrong 234567: float squares = 0;
    // wrong 234567: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong 234567:     const float sum = residual[m * C + c] += in[m * C + c];
    // wrong 23467:     squares += sum * sum;
    // wrong 5:     squares += in[m * C + c] * in[m * C + c];
    // wrong 234567: }
    // wrong 34567: squares = gpu::warp_reduce(squares, gpu::Plus());
    // wrong 24567: const float scale = 1 / sqrtf(squares / static_cast<float>(C) + eps);
    // wrong 3: const float scale = 1 / sqrtf(squares / 32 + eps);
    // wrong 234567: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong 235:     out[m * C + c] = residual[m * C + c] * scale * weight[c];
    // wrong 4:     out[m * C + c] = residual[m * C + c] * scale * weight[lane];
    // wrong 6:     out[m * C + c] = residual[m * C + c] * scale * weight[m];
    // wrong 7:     out[m * C + c] = (residual[m * C + c] + in[m * C + c]) * scale * weight[c];
    // wrong 234567: }
    // told: The mean was subtracted
    // told 2: Each lane used only its own sum of squares
    // told 3: divided by 32, the lanes of a warp
    // told 4: multiplied by the weight of its lane
    // told 5: squares of `in` alone
    // told 7: was added a second time
    // wrong 8: const int lane = threadIdx.x % 32;
    // wrong 8: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 8: if (m >= M) return;
    // wrong 8: float squares = 0;
    // wrong 8: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong 8:     squares += residual[m * C + c] * residual[m * C + c];
    // wrong 8: }
    // wrong 8: squares = gpu::warp_reduce(squares, gpu::Plus());
    // wrong 8: const float scale = 1 / sqrtf(squares / static_cast<float>(C) + eps);
    // wrong 8: for (std::int64_t c = lane; c < C; c += 32) {
    // wrong 8:     residual[m * C + c] += in[m * C + c];
    // wrong 8:     out[m * C + c] = residual[m * C + c] * scale * weight[c];
    // wrong 8: }
    // told 8: Add `in` before you square
    // told 6: depends on weight[m]; it should depend on weight[c]
    // end of your code
}

}  // namespace

void add_rms_norm_cuda(View<const float> in, View<const float> weight, float eps,
                       View<float> residual, View<float> out, gpu::Stream stream) {
    check_add_rms_norm(in, weight, eps, residual, out);
    if (out.size() == 0) return;
    const std::int64_t M = in.extent(0), C = in.extent(1);
    const unsigned grid = gpu::blocks_for(M, kWarps);
    add_rms_norm_kernel<<<grid, 32 * kWarps, 0, stream>>>(in.data, weight.data, eps, M, C,
                                                          residual.data, out.data);
    gpu::check_launch("add_rms_norm_kernel", grid, 32 * kWarps);
}

}  // namespace sixdays::day06_transformer_ops
