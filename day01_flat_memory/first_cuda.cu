// One addition on the GPU. A kernel cannot return a value and cannot see the CPU's variables, so
// everything travels through device memory.
#include "common/gpu/check.hpp"
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/first.hpp"

namespace sixdays::day01_flat_memory {

// [first]
__global__ void add_two_numbers_kernel(const float* in, float* out) {
    out[0] = in[0] + in[1];
}

float add_two_numbers_cuda(float a, float b) {
    const float in[2] = {a, b};
    float out = 0;

    float* memory = nullptr;                                // device memory: in[0], in[1], out
    SIXDAYS_CUDA(cudaMalloc(&memory, 3 * sizeof(float)));   // 1 allocate
    SIXDAYS_CUDA(cudaMemcpy(memory, in, 2 * sizeof(float),  // 2 copy there
                            cudaMemcpyHostToDevice));
    add_two_numbers_kernel<<<1, 1>>>(memory, memory + 2);  // 3 launch
    gpu::check_launch("add_two_numbers_kernel", 1, 1);
    SIXDAYS_CUDA(cudaMemcpy(&out, memory + 2, sizeof(float),  // 4 copy back
                            cudaMemcpyDeviceToHost));
    SIXDAYS_CUDA(cudaFree(memory));
    return out;
}
// [first]
// Had any of these calls thrown, `memory` would have leaked. That is what gpu::Buffer is for: its
// destructor calls cudaFree, whatever happens.

}  // namespace sixdays::day01_flat_memory
