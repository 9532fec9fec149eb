// Exercise 7: add a bias to every row of a matrix.
// Specification:    day01_flat_memory/exercises/add_bias/add_bias.hpp
// CPU reference:    day01_flat_memory/exercises/add_bias/add_bias_cpu.cpp
// Hints:            common/learn hint day01 add_bias
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/exercises/add_bias/add_bias.hpp"
#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void add_bias_kernel(const float* in, const float* bias, std::int64_t M, std::int64_t N,
                                float* out) {
    // your code: which row m and which column n does this thread compute?
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        out[offset2(m, n, N)] = in[offset2(m, n, N)] + bias[n];
    }
    // wrong 12: const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong 12: const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    // wrong: if (m < M && n < N) out[m * N + n] = in[m * N + n] + bias[m];
    // wrong 2: if (m < M && n < N) out[m * N + n] = in[n * M + m] + bias[n];
    // end of your code
}

}  // namespace

void add_bias_cuda(View<const float> in, View<const float> bias, View<float> out,
                   gpu::Stream stream) {
    check_add_bias(in, bias, out);
    const std::int64_t M = out.extent(0), N = out.extent(1);
    if (M == 0 || N == 0) return;
    const dim3 block(32, 8);  // 32 columns, 8 rows
    // your code: enough blocks for all columns and all rows
    // stub: const dim3 grid(1, 1);
    const dim3 grid(gpu::blocks_for(N, 32), gpu::blocks_for(M, 8));
    // wrong 12: const dim3 grid(gpu::blocks_for(N, 32), gpu::blocks_for(M, 8));
    // told: gets bias[m]; it should get bias[n]
    // told 2: gets in[m + 2 n]; it should get in[3 m + n]
    // end of your code
    add_bias_kernel<<<grid, block, 0, stream>>>(in.data, bias.data, M, N, out.data);
    gpu::check_launch("add_bias_kernel", grid, block);
}

}  // namespace sixdays::day01_flat_memory
