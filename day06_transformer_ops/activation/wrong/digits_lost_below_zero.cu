// Wrong on purpose: x/2 (1 + erf(x / sqrt(2))), as books write it. Where x is far below 0, erf is nearly
// -1, and the sum keeps few digits: three at -4, none at -6.
//
// case: activations keep their bound for numbers of all sizes
// refused: name(what) := "gelu_erf"
// refused: name(path) := "quads"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/activation/steps/functions.hpp"
#include "day06_transformer_ops/activation/steps/steps.hpp"
#include "day06_transformer_ops/quad.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

struct HalfOnePlusErf {
    __device__ float operator()(float x) const {
        return 0.5f * x * (1 + erff(x * 0.70710678f));  // <- the mistake
    }
};

template <class OP, class F, class T>
__global__ void __launch_bounds__(kThreads)
    activation_quads_kernel(std::int64_t quads, const uint4* a, const uint4* b, uint4* out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k >= quads) return;
    float x[kPerQuad<T>], y[kPerQuad<T>];
    unpack<T>(a[k], x);
    unpack<T>(b[k], y);
#pragma unroll
    for (int e = 0; e < kPerQuad<T>; ++e) x[e] = OP::of(F(), x[e], y[e]);
    out[k] = pack<T>(x);
}

template <class G>
void with_function(Activation what, const G& g) {
    switch (what) {
        case Activation::relu:
            return g(Relu());
        case Activation::gelu_erf:
            return g(HalfOnePlusErf());
        case Activation::gelu_tanh:
            return g(GeluTanh());
        case Activation::silu:
            return g(Silu());
    }
}

}  // namespace

// Of one run of memory, as the case has it.
template <class OP, class T>
void launch_activation_quads(Activation what, const View<const T>& a, const View<const T>& b,
                             const View<T>& out, gpu::Stream stream) {
    const std::int64_t quads = out.size() / kPerQuad<T>;
    const unsigned grid = gpu::blocks_for(quads, kThreads);
    with_function(what, [&]<class F>(F) {
        activation_quads_kernel<OP, F, T><<<grid, kThreads, 0, stream>>>(
            quads, reinterpret_cast<const uint4*>(a.data), reinterpret_cast<const uint4*>(b.data),
            reinterpret_cast<uint4*>(out.data));
    });
    gpu::check_launch("activation_quads_kernel", grid, kThreads);
}

template void launch_activation_quads<Plain>(Activation, const View<const float>&,
                                             const View<const float>&, const View<float>&,
                                             gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
