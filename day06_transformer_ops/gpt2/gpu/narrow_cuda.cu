// Floats rounded to 16 bits: a thread takes eight, two quads of floats, and stores one quad.
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx/pack.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/quads.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/activation/steps/functions.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kThreads = 128, kEach = 8;

// [narrow]
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
// [narrow]

template <class T>
bool in_eights(const View<T>& x) {
    return has_wider(x.data, x.layout, sizeof(T), kEach * sizeof(T));
}

template <class T>
void check_narrow(const View<const float>& in, const View<T>& out) {
    require_same_shape("narrow", "in", in, "out", out);
    require_memory("narrow", "in", in);
    require_output("narrow", out);
    if (overlap(in, out)) refuse("narrow: in and out overlap");
    if (out.size() > 0 && !(in_eights(in) && in_eights(out))) {
        refuse(
            "narrow: rows are to lie along memory, in whole groups of eight numbers that begin at "
            "multiples of their size; but in has " +
            to_string(in.layout) + " and out " + to_string(out.layout));
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

}  // namespace

template <class T>
void narrow_cuda(View<const float> in, View<T> out, Before before, gpu::Stream stream) {
    check_narrow(in, out);
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

}  // namespace sixdays::gpt2
