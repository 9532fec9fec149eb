// Step 2: one warp per row, with x and grad in registers: memory is read once. A lane has the same
// columns in every row, so it accumulates their contributions to weight and bias; the warps of a
// block combine theirs, each block stores its sums, and a second, small kernel adds up the blocks.
// The number of blocks depends only on the shape, so the bits are reproducible.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/held_row.hpp"
#include "day06_transformer_ops/training/backward/steps/layer_norm/parts.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;

template <int VECTORS>
using Held = HeldRow<float, 32, VECTORS>;

// parts (blocks, 2, C): the contribution of the block's rows to weight and bias.
template <int VECTORS>
__global__ void __launch_bounds__(kThreads, VECTORS <= 6 ? 2 : 1)
    layer_norm_registers_kernel(const __grid_constant__ Rows<const float> in,
                                const __grid_constant__ NormParameters parameters,
                                const __grid_constant__ Rows<const float> grad,
                                const __grid_constant__ Rows<float> d_in,
                                const __grid_constant__ View<float> parts) {
    __shared__ float of_warp[kWarps][VECTORS * 128];
    const int C = static_cast<int>(in.length), warp = threadIdx.x / 32;
    const float inv_length = 1 / static_cast<float>(C);
    float d_weight[VECTORS][4] = {}, d_bias[VECTORS][4] = {};
    for (std::int64_t r = std::int64_t{blockIdx.x} * kWarps + warp; r < in.count();
         r += std::int64_t{gridDim.x} * kWarps) {
        Held<VECTORS> x, g;
        const float first = in.row(r)[0];
        x.load(in.row(r).first, C, first);
        g.load(grad.row(r).first, C, 0);
        float sum = 0, squares = 0, of_mean = 0, of_scale = 0;
        x.each([&](float a) { sum += a - first; });
        const float mean = first + gpu::warp_reduce(sum, Plus()) * inv_length;
        x.change([&](int i, float& a) { a = i < C ? a - mean : 0; });
        x.each([&](float a) { squares += a * a; });
        const float variance = gpu::warp_reduce(squares, Plus()) * inv_length;
        const float scale = 1 / sqrtf(variance + parameters.eps);
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            float z[4], h[4];
            unpack<float>(x.vectors[q], z);
            unpack<float>(g.vectors[q], h);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                z[e] *= scale;
                d_weight[q][e] += h[e] * z[e];
                d_bias[q][e] += h[e];
                const int i = Held<VECTORS>::index(q) + e;
                h[e] = i < C ? h[e] * weight_of(parameters, i) : 0;
                of_mean += h[e];
                of_scale += h[e] * z[e];
            }
            x.vectors[q] = pack<float>(z);
            g.vectors[q] = pack<float>(h);
        }
        of_mean = gpu::warp_reduce(of_mean, Plus()) * inv_length;
        of_scale = gpu::warp_reduce(of_scale, Plus()) * inv_length;
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            float z[4], h[4];
            unpack<float>(x.vectors[q], z);
            unpack<float>(g.vectors[q], h);
#pragma unroll
            for (int e = 0; e < 4; ++e) h[e] = scale * (h[e] - of_mean - z[e] * of_scale);
            g.vectors[q] = pack<float>(h);
        }
        x.load(d_in.row(r).first, C, 0);  // in the registers of z
        g.add(x);
        g.store(d_in.row(r).first, C);
    }
    // The warps' sums, in their order.
    const auto leave = [&](const float(&mine)[VECTORS][4], int which) {
        __syncthreads();  // all threads have read the previous contents
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
#pragma unroll
            for (int e = 0; e < 4; ++e) of_warp[warp][Held<VECTORS>::index(q) + e] = mine[q][e];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < C; i += kThreads) {
            float all = 0;
            for (int w = 0; w < kWarps; ++w) all += of_warp[w][i];
            parts(blockIdx.x, which, i) = all;
        }
    };
    leave(d_weight, 0);
    leave(d_bias, 1);
}

template <int VECTORS>
void launch(const Rows<const float>& in, const NormParameters& parameters,
            const Rows<const float>& grad, const Rows<float>& d_in, const View<float>& parts,
            gpu::Stream stream) {
    const auto grid = static_cast<unsigned>(parts.extent(0));
    layer_norm_registers_kernel<VECTORS>
        <<<grid, kThreads, 0, stream>>>(in, parameters, grad, d_in, parts);
    gpu::check_launch("layer_norm_registers_kernel", grid, kThreads);
}

}  // namespace

void launch_layer_norm_backward_registers(const Rows<const float>& in,
                                          const NormParameters& parameters,
                                          const Rows<const float>& grad, const Rows<float>& d_in,
                                          const NormGradients& d, const View<float>& parts,
                                          gpu::Stream stream) {
    const std::int64_t vectors = (in.length + 127) / 128;  // per lane
    const auto with = vectors <= 1   ? launch<1>
                      : vectors <= 2 ? launch<2>
                      : vectors <= 4 ? launch<4>
                      : vectors <= 6 ? launch<6>
                                     : launch<8>;
    with_even_rows(in, grad, d_in, [&](const auto& x, const auto& g, const auto& dx) {
        with(x, parameters, g, dx, parts, stream);
    });
    add_parts<8>(parts, d, stream);
}

}  // namespace sixdays::day06_transformer_ops
