// Exercise 9: softmax, one warp per row.
// Specification:    day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp
// CPU reference:    day06_transformer_ops/exercises/softmax_rows/softmax_rows_cpu.cpp
// Hints:            common/learn hint day06 softmax_rows
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;  // rows per block

__global__ void softmax_rows_kernel(const float* in, std::int64_t M, std::int64_t N, float* out) {
    // your code: one warp per row, 32 elements at a time
    const int lane = threadIdx.x % 32;
    const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    if (m >= M) return;  // all lanes of the warp
    const float* x = in + m * N;
    float largest = -INFINITY;
    for (std::int64_t n = lane; n < N; n += 32) {
        largest = fmaxf(largest, x[n]);
    }
    largest = gpu::warp_reduce(largest, gpu::Larger());
    float sum = 0;
    for (std::int64_t n = lane; n < N; n += 32) {
        sum += expf(x[n] - largest);
    }
    sum = gpu::warp_reduce(sum, gpu::Plus());
    for (std::int64_t n = lane; n < N; n += 32) {
        out[m * N + n] = expf(x[n] - largest) / sum;
    }
    // wrong: const int lane = threadIdx.x % 32;
    // wrong: const std::int64_t m = blockIdx.x;
    // wrong: if (threadIdx.x >= 32) return;
    // wrong: const float* x = in + m * N;
    // wrong: float largest = -INFINITY, sum = 0;
    // wrong: for (std::int64_t n = lane; n < N; n += 32) largest = fmaxf(largest, x[n]);
    // wrong: largest = gpu::warp_reduce(largest, gpu::Larger());
    // wrong: for (std::int64_t n = lane; n < N; n += 32) sum += expf(x[n] - largest);
    // wrong: sum = gpu::warp_reduce(sum, gpu::Plus());
    // wrong: for (std::int64_t n = lane; n < N; n += 32) {
    // wrong:     out[m * N + n] = expf(x[n] - largest) / sum;
    // wrong: }
    // told: Here each block computed only one row
    // wrong 23456: const int lane = threadIdx.x % 32;
    // wrong 245: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 3: const std::int64_t m = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x / 32;
    // wrong 6: const int m = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32;
    // wrong 23456: if (m >= M) return;
    // wrong 2345: const float* x = in + m * N;
    // wrong 6: const int start = m * int(N);
    // wrong 6: const float* x = in + start;
    // wrong 23456: float largest = -INFINITY, sum = 0;
    // wrong 23456: for (std::int64_t n = lane; n < N; n += 32) largest = fmaxf(largest, x[n]);
    // wrong 3456: largest = gpu::warp_reduce(largest, gpu::Larger());
    // wrong 236: for (std::int64_t n = lane; n < N; n += 32) sum += expf(x[n] - largest);
    // wrong 4: for (std::int64_t n = 0; n < N; ++n) sum += expf(x[n] - largest);
    // wrong 5: for (std::int64_t n = lane; n < N; n += 32) {
    // wrong 5:     sum += out[m * N + n] = expf(x[n] - largest);
    // wrong 5: }
    // wrong 23456: sum = gpu::warp_reduce(sum, gpu::Plus());
    // wrong 234: for (std::int64_t n = lane; n < N; n += 32) {
    // wrong 234:     out[m * N + n] = expf(x[n] - largest) / sum;
    // wrong 234: }
    // wrong 6: for (std::int64_t n = lane; n < N; n += 32) out[start + n] = expf(x[n] - largest) / sum;
    // wrong 5: for (std::int64_t n = lane; n < N; n += 32) out[m * N + n] /= sum;
    // told 2: Each lane subtracted its own largest element
    // told 3: Is the row computed from the number of threads
    // told 4: All 32 lanes added the same sum
    // told 5: out is written twice
    // told 6: computed or kept in 32 bits
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
