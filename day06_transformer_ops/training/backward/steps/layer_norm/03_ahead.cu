// Step 3, for RMS norm too: as step 2, but with asynchronous copies: each lane copies its vectors
// of the next row into shared memory while it works on this one, so that loads are always in
// flight. The weight is kept in shared memory, and more warps add up the blocks' sums.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/held_row.hpp"
#include "day06_transformer_ops/training/backward/steps/layer_norm/parts.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;

template <int VECTORS>
using Held = HeldRow<float, 32, VECTORS>;

/// A thread's copies of the next row in shared memory: vector q of x, and of grad.
template <int VECTORS>
struct Next {
    uint4* vectors;
    __device__ uint4& x(int q) const { return vectors[q * kThreads + threadIdx.x]; }
    __device__ uint4& grad(int q) const { return x(VECTORS + q); }
    __device__ void copy(const float* of_x, const float* of_grad, int C) const {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            const int i = Held<VECTORS>::index(q), from = i < C ? i : 0, bytes = i < C ? 16 : 0;
            gpu::copy_async<16>(&x(q), of_x + from, bytes);
            gpu::copy_async<16>(&grad(q), of_grad + from, bytes);
        }
        gpu::copy_async_commit();
    }
};

template <int VECTORS>
constexpr std::size_t kRowBytes = VECTORS * 128 * sizeof(float);
template <int VECTORS>
constexpr std::size_t kBytes = kRowBytes<VECTORS>*(2 * kWarps + 1);

// CENTRED: a layer norm; else an RMS norm, whose mean is 0.
// parts (blocks, 2, C): the contribution of the block's rows to weight and bias.
template <int VECTORS, bool CENTRED>
__global__ void __launch_bounds__(kThreads, VECTORS <= 6 ? 2 : 1)
    norm_ahead_kernel(const __grid_constant__ Rows<const float> in,
                      const __grid_constant__ NormParameters parameters,
                      const __grid_constant__ Rows<const float> grad,
                      const __grid_constant__ Rows<float> d_in,
                      const __grid_constant__ View<float> parts) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const weight = tiles.next<float>(VECTORS * 128);
    const Next<VECTORS> next{tiles.next<uint4>(2 * VECTORS * kThreads)};
    const int C = static_cast<int>(in.length), warp = threadIdx.x / 32;
    const float inv_length = 1 / static_cast<float>(C);
    const std::int64_t step = std::int64_t{gridDim.x} * kWarps;
    std::int64_t r = std::int64_t{blockIdx.x} * kWarps + warp;
    if (r < in.count()) next.copy(in.row(r).first, grad.row(r).first, C);
    for (int i = threadIdx.x; i < VECTORS * 128; i += kThreads) {
        weight[i] = i < C ? weight_of(parameters, i) : 0;
    }
    __syncthreads();
    float d_weight[VECTORS][4] = {}, d_bias[VECTORS][4] = {};
    for (; r < in.count(); r += step) {
        Held<VECTORS> x, g;
        gpu::copy_async_wait<0>();
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) x.vectors[q] = next.x(q), g.vectors[q] = next.grad(q);
        if (r + step < in.count()) next.copy(in.row(r + step).first, grad.row(r + step).first, C);
        if (CENTRED) {
            const float first = __shfl_sync(0xffffffffu, __uint_as_float(x.vectors[0].x), 0);
            x.fill(C, first);
            float sum = 0;
            x.each([&](float a) { sum += a - first; });
            const float mean = first + gpu::warp_reduce(sum, Plus()) * inv_length;
            x.change([&](int i, float& a) { a = i < C ? a - mean : 0; });
        }
        float squares = 0, of_mean = 0, of_scale = 0;
        x.each([&](float a) { squares += a * a; });
        const float mean_square = gpu::warp_reduce(squares, Plus()) * inv_length;
        const float scale = 1 / sqrtf(mean_square + parameters.eps);
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            float z[4], h[4], w[4];
            unpack<float>(x.vectors[q], z);
            unpack<float>(g.vectors[q], h);
            unpack<float>(*reinterpret_cast<const uint4*>(weight + Held<VECTORS>::index(q)), w);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                z[e] *= scale;
                d_weight[q][e] += h[e] * z[e];
                d_bias[q][e] += h[e];
                h[e] *= w[e];
                of_mean += h[e];
                of_scale += h[e] * z[e];
            }
            x.vectors[q] = pack<float>(z);
            g.vectors[q] = pack<float>(h);
        }
        of_mean = CENTRED ? gpu::warp_reduce(of_mean, Plus()) * inv_length : 0;
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
    float* const of_warp = reinterpret_cast<float*>(next.vectors);
    // The warps' sums, in their order.
    const auto leave = [&](const float(&mine)[VECTORS][4], int which) {
        __syncthreads();  // all threads have read the previous contents
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                of_warp[warp * VECTORS * 128 + Held<VECTORS>::index(q) + e] = mine[q][e];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < C; i += kThreads) {
            float all = 0;
            for (int w = 0; w < kWarps; ++w) all += of_warp[w * VECTORS * 128 + i];
            parts(blockIdx.x, which, i) = all;
        }
    };
    leave(d_weight, 0);
    leave(d_bias, 1);
}

template <int VECTORS, bool CENTRED>
void launch(const Rows<const float>& in, const NormParameters& parameters,
            const Rows<const float>& grad, const Rows<float>& d_in, const View<float>& parts,
            gpu::Stream stream) {
    const auto grid = static_cast<unsigned>(parts.extent(0));
    gpu::allow_shared(norm_ahead_kernel<VECTORS, CENTRED>, kBytes<VECTORS>);
    norm_ahead_kernel<VECTORS, CENTRED>
        <<<grid, kThreads, kBytes<VECTORS>, stream>>>(in, parameters, grad, d_in, parts);
    gpu::check_launch("norm_ahead_kernel", grid, kThreads, kBytes<VECTORS>);
}

template <bool CENTRED>
void launch_for(const Rows<const float>& in, const NormParameters& parameters,
                const Rows<const float>& grad, const Rows<float>& d_in, const NormGradients& d,
                const View<float>& parts, gpu::Stream stream) {
    const std::int64_t vectors = (in.length + 127) / 128;  // per lane
    const auto with = vectors <= 1   ? launch<1, CENTRED>
                      : vectors <= 2 ? launch<2, CENTRED>
                      : vectors <= 4 ? launch<4, CENTRED>
                      : vectors <= 6 ? launch<6, CENTRED>
                                     : launch<8, CENTRED>;
    with_even_rows(in, grad, d_in, [&](const auto& x, const auto& g, const auto& dx) {
        with(x, parameters, g, dx, parts, stream);
    });
    add_parts<32>(parts, d, stream);
}

}  // namespace

void launch_norm_backward_ahead(bool centred, const Rows<const float>& in,
                                const NormParameters& parameters, const Rows<const float>& grad,
                                const Rows<float>& d_in, const NormGradients& d,
                                const View<float>& parts, gpu::Stream stream) {
    const auto with = centred ? launch_for<true> : launch_for<false>;
    with(in, parameters, grad, d_in, d, parts, stream);
}

}  // namespace sixdays::day06_transformer_ops
