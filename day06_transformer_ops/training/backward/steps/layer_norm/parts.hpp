/// @file
/// Shared by the steps of the norms' backward pass: evenly spaced rows, and the sum of the parts
/// that blocks have stored.
#pragma once

#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Calls f(in, grad, d_in) with the same rows. Evenly spaced rows are found without a division.
template <class F>
void with_even_rows(const Rows<const float>& in, const Rows<const float>& grad,
                    const Rows<float>& d_in, const F& f) {
    const auto [x, g, dx] = simplify(in.first.layout, grad.first.layout, d_in.first.layout);
    f(Rows<const float>{{in.first.data, x}, in.length, in.stride},
      Rows<const float>{{grad.first.data, g}, grad.length, grad.stride},
      Rows<float>{{d_in.first.data, dx}, d_in.length, d_in.stride});
}

/// A block adds up 32 columns of all parts (blocks, 2, C): a warp's lanes have adjacent columns,
/// and warp w has parts w, w + WARPS, ... blockIdx.y: 0 for the weight, 1 for the bias.
template <int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    add_parts_kernel(const __grid_constant__ View<const float> parts,
                     const __grid_constant__ NormGradients d) {
    __shared__ float of_warp[WARPS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, which = blockIdx.y;
    const std::int64_t i = std::int64_t{blockIdx.x} * 32 + lane;
    float sum = 0;
    if (i < parts.extent(2)) {
#pragma unroll 8
        for (std::int64_t b = warp; b < parts.extent(0); b += WARPS) sum += parts(b, which, i);
    }
    of_warp[warp][lane] = sum;
    __syncthreads();
    const View<float>& out = which == 0 ? d.weight : d.bias;
    if (warp > 0 || i >= parts.extent(2) || out.data == nullptr) return;
    float all = 0;
    for (int w = 0; w < WARPS; ++w) all += of_warp[w][lane];
    out(i) += all;
}

/// Adds the sums of all blocks to the gradients of weight and bias, if these are requested.
template <int WARPS>
void add_parts(const View<const float>& parts, const NormGradients& d, gpu::Stream stream) {
    if (d.weight.data == nullptr && d.bias.data == nullptr) return;
    const dim3 grid(gpu::blocks_for(parts.extent(2), 32), 2);
    add_parts_kernel<WARPS><<<grid, 32 * WARPS, 0, stream>>>(parts, d);
    gpu::check_launch("add_parts_kernel", grid, 32 * WARPS);
}

}  // namespace sixdays::day06_transformer_ops
