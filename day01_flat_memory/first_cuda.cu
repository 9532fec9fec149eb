// One addition on the GPU.
//
// CPU and GPU (host and device) have a memory each, and a pointer does not say whose it is. A
// kernel is a function marked __global__: it runs on the device, is launched by the host, and
// returns nothing. kernel<<<blocks, threads>>>(arguments) starts `blocks` times `threads` threads
// that all run it; two more numbers may follow in the brackets, bytes of shared memory (0 today)
// and a stream, the queue it waits in. The launch returns at once, before the kernel has run. A
// kernel cannot return a value and cannot see the CPU's variables, so everything travels through
// device memory.
#include "common/gpu/check.hpp"
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/first.hpp"

namespace sixdays::day01_flat_memory {

namespace {

// [first kernel]
__global__ void add_two_numbers_kernel(const float* in, float* out) {
    out[0] = in[0] + in[1];
}
// [first kernel]

}  // namespace

// [first]
float add_two_numbers_cuda(float a, float b) {
    const float in[2] = {a, b};
    float out = 0;

    // 1. Allocate device memory: in[0], in[1], out.
    float* memory = nullptr;
    SIXDAYS_CUDA(cudaMalloc(&memory, 3 * sizeof(float)));
    // 2. Copy the inputs there.
    SIXDAYS_CUDA(cudaMemcpy(memory, in, 2 * sizeof(float), cudaMemcpyHostToDevice));
    // 3. Launch: one block of one thread.
    add_two_numbers_kernel<<<1, 1>>>(memory, memory + 2);
    gpu::check_launch("add_two_numbers_kernel", 1, 1);
    // 4. Copy the result back. The copy waits until the kernel is done.
    SIXDAYS_CUDA(cudaMemcpy(&out, memory + 2, sizeof(float), cudaMemcpyDeviceToHost));
    SIXDAYS_CUDA(cudaFree(memory));
    return out;
}
// [first]
// Had any of these calls thrown, `memory` would have leaked. That is what gpu::Buffer is for: its
// destructor calls cudaFree, whatever happens.

}  // namespace sixdays::day01_flat_memory
