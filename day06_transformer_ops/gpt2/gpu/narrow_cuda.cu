// The kernels: one loads eight numbers per thread, two vectors of floats, and stores one vector;
// the other applies a layer norm first.
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx/pack.hpp"
#include "common/gpu/reduce.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/activation/steps/functions.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kThreads = 128, kEach = 8;

struct Eight {
    float4 low, high;
};

struct AsItIs {
    __device__ float operator()(float x) const { return x; }
};

template <class F, class T, int RANK>
__global__ void narrow_kernel(const __grid_constant__ Walk<RANK, 2> eights, const Eight* in,
                              uint4* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < eights.size) {
        const Offsets<2> at = eights.offsets(k);
        const auto [a, b] = in[at.of[1]];
        const F f;
        out[at.of[0]] = make_uint4(gpu::pack<T>(f(a.x), f(a.y)), gpu::pack<T>(f(a.z), f(a.w)),
                                   gpu::pack<T>(f(b.x), f(b.y)), gpu::pack<T>(f(b.z), f(b.w)));
    }
}

template <class T>
bool in_eights(const View<T>& x) {
    return has_wider(x.data, x.layout, sizeof(T), kEach * sizeof(T));
}

// Further requirements of the kernels.
template <class T>
void require_eights(const View<const float>& in, const View<T>& out) {
    if (out.size() > 0 && !(in_eights(in) && in_eights(out))) {
        reject(
            "narrow: rows must be contiguous, in whole groups of eight numbers that begin at "
            "multiples of their size; but in has ",
            in.layout, " and out ", out.layout);
    }
}

template <class F, class T>
void launch(const View<const Eight>& in, const View<uint4>& out, gpu::Stream stream) {
    with_rank(out.rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 2> eights({out.layout, in.layout});
        const unsigned grid = gpu::blocks_for(eights.size, kThreads);
        narrow_kernel<F, T, RANK><<<grid, kThreads, 0, stream>>>(eights, in.data, out.data);
        gpu::check_launch("narrow_kernel", grid, kThreads);
    });
}

// One warp per row. It reads the row three times; the second and third time from the L1 cache.
template <class T>
__global__ void norm_narrow_kernel(const float4* in, const float4* weight, const float4* bias,
                                   std::int64_t rows, int vectors, float eps, uint2* out) {
    const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;  // all lanes of the warp
    const float4* const x = in + row * vectors;
    const float first = x->x, inv_length = 1 / static_cast<float>(4 * vectors);
    float sum = 0, squares = 0;
    for (int q = lane; q < vectors; q += 32) {
        sum += (x[q].x - first) + (x[q].y - first) + (x[q].z - first) + (x[q].w - first);
    }
    const float mean = first + gpu::warp_reduce(sum, gpu::Plus()) * inv_length;
    for (int q = lane; q < vectors; q += 32) {
        const float4 d = {x[q].x - mean, x[q].y - mean, x[q].z - mean, x[q].w - mean};
        squares += d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
    }
    const float scale = rsqrtf(gpu::warp_reduce(squares, gpu::Plus()) * inv_length + eps);
    for (int q = lane; q < vectors; q += 32) {
        const float4 z = x[q], w = weight[q], b = bias[q];
        const auto y = [&](float of, float times, float plus) {
            return fmaf((of - mean) * scale, times, plus);
        };
        out[row * vectors + q] = make_uint2(gpu::pack<T>(y(z.x, w.x, b.x), y(z.y, w.y, b.y)),
                                            gpu::pack<T>(y(z.z, w.z, b.z), y(z.w, w.w, b.w)));
    }
}

// An operand that the kernel reads in vectors.
const float4* in_one_run(const char* what, const View<const float>& x) {
    if (x.data == nullptr || !is_contiguous(x.layout) ||
        !has_wider(x.data, x.layout, sizeof(float))) {
        reject("norm_narrow: ", what,
               " must be present, contiguous and aligned to 16 bytes, but it has ", x.layout);
    }
    return reinterpret_cast<const float4*>(x.data);
}

}  // namespace

template <class T>
void norm_narrow_cuda(View<const float> in, const day06_transformer_ops::NormParameters& parameters,
                      View<T> out, gpu::Stream stream) {
    check_norm_narrow(in, parameters, out);
    require_eights(in, out);
    if (out.size() == 0) return;
    if (!is_contiguous(out.layout))
        reject("norm_narrow: out must be contiguous, but it has ", out.layout);
    const float4 *const x = in_one_run("in", in),
                        *const weight = in_one_run("weight", parameters.weight),
                        *const bias = in_one_run("bias", parameters.bias);
    const unsigned grid = gpu::blocks_for(in.extent(0), kThreads / 32);
    norm_narrow_kernel<T><<<grid, kThreads, 0, stream>>>(
        x, weight, bias, in.extent(0), static_cast<int>(in.extent(1) / 4), parameters.eps,
        reinterpret_cast<uint2*>(out.data));
    gpu::check_launch("norm_narrow_kernel", grid, kThreads);
}

template <class T>
void narrow_cuda(View<const float> in, View<T> out, Before before, gpu::Stream stream) {
    check_narrow(in, out);
    require_eights(in, out);
    if (out.size() == 0) return;
    const auto layouts = simplify(out.layout, in.layout);
    const auto run = [&](const View<uint4>& to, const View<const Eight>& from) {
        before == Before::gelu ? launch<day06_transformer_ops::GeluTanh, T>(from, to, stream)
                               : launch<AsItIs, T>(from, to, stream);
    };
    in_pieces(kWalkable, run,
              View<uint4>{reinterpret_cast<uint4*>(out.data), wider(layouts[0], kEach)},
              View<const Eight>{reinterpret_cast<const Eight*>(in.data), wider(layouts[1], kEach)});
}

template void narrow_cuda(View<const float>, View<bf16>, Before, gpu::Stream);
template void narrow_cuda(View<const float>, View<f16>, Before, gpu::Stream);
template void norm_narrow_cuda(View<const float>, const day06_transformer_ops::NormParameters&,
                               View<bf16>, gpu::Stream);
template void norm_narrow_cuda(View<const float>, const day06_transformer_ops::NormParameters&,
                               View<f16>, gpu::Stream);

}  // namespace sixdays::gpt2
