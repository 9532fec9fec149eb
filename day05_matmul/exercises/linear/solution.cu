// Exercise 9: a linear layer.
// Specification:    day05_matmul/exercises/linear/linear.hpp
// CPU reference:    day05_matmul/exercises/linear/linear_cpu.cpp
// Hints:            common/learn hint day05 linear
#include "common/gpu/launch.hpp"
#include "day05_matmul/exercises/linear/linear.hpp"

namespace sixdays::day05_matmul {
namespace {

__global__ void linear_kernel(const __grid_constant__ View<const float> x,
                              const __grid_constant__ View<const float> w,
                              const __grid_constant__ View<const float> bias,
                              const __grid_constant__ View<float> out) {
    const std::int64_t T = out.extent(0), OC = out.extent(1), C = x.extent(1);
    // your code: which output does this thread compute? Compute its sum
    // wrong 12: const std::int64_t t = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    // wrong 12: const std::int64_t oc = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong 12: if (t >= T || oc >= OC) return;
    // wrong: out(t, oc) = bias(oc);
    // wrong: for (std::int64_t c = 0; c < C; ++c) out(t, oc) += x(t, c) * w(oc, c);
    // wrong 2: float sum = bias(oc);
    // wrong 2: for (std::int64_t c = 0; c < C; ++c) sum += x(t, c) * w(oc, c);
    // wrong 2: out(t, oc) += sum;
    // told: accumulated in a register and stored once
    // told 2: The kernel adds to out
    const std::int64_t t = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t oc = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < T && oc < OC) {
        float sum = bias(oc);
        for (std::int64_t c = 0; c < C; ++c) {
            sum += x(t, c) * w(oc, c);
        }
        out(t, oc) = sum;
    }
    // wrong 3: const std::int64_t t = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    // wrong 3: const std::int64_t oc = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong 3: if (t >= T || oc >= OC) return;
    // wrong 3: float sum = 0;
    // wrong 3: for (std::int64_t c = 0; c < C; ++c) sum += x(t, c) * w(oc, c) + bias(oc);
    // wrong 3: out(t, oc) = sum;
    // wrong 4: const std::int64_t t = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    // wrong 4: const std::int64_t oc = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong 4: if (t >= T || oc >= OC) return;
    // wrong 4: int sum = static_cast<int>(bias(oc));
    // wrong 4: for (std::int64_t c = 0; c < C; ++c)
    // wrong 4:     sum = static_cast<int>(x(t, c) * w(oc, c) + static_cast<float>(sum));
    // wrong 4: out(t, oc) = static_cast<float>(sum);
    // wrong 5: const std::int64_t t = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.y;
    // wrong 5: const std::int64_t oc = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong 5: if (t >= T || oc >= OC) return;
    // wrong 5: float sum = bias(oc);
    // wrong 5: for (std::int64_t c = 0; c < C; ++c) sum += x(t, c) * w(oc, c);
    // wrong 5: out(t, oc) = sum;
    // told 5: is blockIdx.y multiplied by blockDim.x
    // told 4: Is the sum kept in another type than float
    // told 3: The bias was added in every iteration
    // end of your code
}

}  // namespace

void linear_cuda(View<const float> x, View<const float> w, View<const float> bias, View<float> out,
                 gpu::Stream stream) {
    check_linear(x, w, bias, out);
    if (out.size() == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(out.extent(1), 32), gpu::blocks_for(out.extent(0), 8));
    linear_kernel<<<grid, block, 0, stream>>>(x, w, bias, out);
    gpu::check_launch("linear_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
