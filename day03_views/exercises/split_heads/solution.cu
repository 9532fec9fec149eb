// Exercise 5: split the channels of every token into heads.
// Specification:    day03_views/exercises/split_heads/split_heads.hpp
// CPU reference:    day03_views/exercises/split_heads/split_heads_cpu.cpp
// Hints:            common/learn hint day03 split_heads
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/exercises/split_heads/split_heads.hpp"

namespace sixdays::day03_views {
namespace {

// Both views have the shape of out. The kernel knows nothing of heads: it copies the view.
__global__ void split_heads_kernel(const __grid_constant__ View<const float> heads,
                                   const __grid_constant__ View<float> out) {
    // your code: which element k of out does this thread copy, and what is its index?
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < out.size()) {
        const Index index = unravel(k, out.shape());
        out(index) = heads(index);
    }
    // wrong 123: const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // wrong: if (k >= out.size()) return;
    // wrong 3: if (k >= out.size() - 1) return;
    // wrong 123: const Index index = unravel(k, out.shape());
    // wrong 123: out(index) = heads(index);
    // end of your code
}

}  // namespace

void split_heads_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_split_heads(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const std::int64_t B = out.extent(0), H = out.extent(1), T = out.extent(2), D = out.extent(3);
    // your code: view in, (B, T, H * D), as (B, H, T, D)
    // stub: const View<const float> heads(in.data, Shape{B, H, T, D});
    const View<const float> heads = permute(reshape(in, {B, T, H, D}), {0, 2, 1, 3});
    // wrong: const View<const float> heads = permute(View<const float>(in.data, Shape{B, T, D, H}), {0, 3, 1, 2});
    // wrong 23: const View<const float> heads = permute(reshape(in, {B, T, H, D}), {0, 2, 1, 3});
    // told: it should get in.data[2 h + 6 t + d]
    // told 2: Is the guard missing
    // told 3: Does the guard exclude some that have an element
    // end of your code
    const unsigned grid = gpu::blocks_for(n, 256);
    split_heads_kernel<<<grid, 256, 0, stream>>>(heads, out);
    gpu::check_launch("split_heads_kernel", grid, 256);
}

}  // namespace sixdays::day03_views
