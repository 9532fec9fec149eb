// Exercise 8: select the last token's vector of every sequence.
// Specification:    day01_flat_memory/exercises/last_token/last_token.hpp
// CPU reference:    day01_flat_memory/exercises/last_token/last_token_cpu.cpp
// Hints:            common/learn hint day01 last_token
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/exercises/last_token/last_token.hpp"
#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {
namespace {

// your code: the kernel
// One thread per element of out: its flat index i is (b, c) in shape (B, C).
__global__ void last_token_kernel(const float* in, std::int64_t B, std::int64_t T, std::int64_t C,
                                  float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < B * C) {
        const std::int64_t b = i / C;
        const std::int64_t c = i % C;
        const float* token = token_at(in, b, T - 1, T, C);
        out[i] = token[c];
    }
}
// wrong 12: __global__ void last_token_kernel(const float* in, std::int64_t B, std::int64_t T, std::int64_t C,
// wrong 12:                                   float* out) {
// wrong 12:     const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
// wrong 12:     if (i < B * C) {
// wrong 12:         const std::int64_t b = i / C;
// wrong 12:         const std::int64_t c = i % C;
// wrong 12:         const float* token = token_at(in, b, T - 1, T, C);
// wrong 12:         out[i] = token[c];
// wrong 12:     }
// wrong 12: }
// end of your code

}  // namespace

void last_token_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_last_token(in, out);
    const std::int64_t B = in.extent(0), T = in.extent(1), C = in.extent(2);
    // your code: choose block and grid, launch, check the launch; handle B = 0 and C = 0
    if (B * C == 0) return;
    const int block = 256;
    const unsigned grid = gpu::blocks_for(B * C, block);
    last_token_kernel<<<grid, block, 0, stream>>>(in.data, B, T, C, out.data);
    gpu::check_launch("last_token_kernel", grid, block);
    // told: returned as if it had succeeded
    // told 2: the stream is the fourth launch parameter
    // wrong 12: if (B * C == 0) return;
    // wrong 12: const int block = 256;
    // wrong 12: const unsigned grid = gpu::blocks_for(B * C, block);
    // wrong: last_token_kernel<<<grid, block, 0, stream>>>(in.data, B, T, C, out.data);
    // wrong 2: last_token_kernel<<<grid, block>>>(in.data, B, T, C, out.data);
    // wrong 2: gpu::check_launch("last_token_kernel", grid, block);
    // end of your code
}

}  // namespace sixdays::day01_flat_memory
