// Step 2: 128-bit loads, as in the forward pass (activation/steps/vectors.hpp), with a different
// function of an element and its gradient. It stays memory-bound: each slope moves three numbers.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/activation/steps/vectors.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <Activation WHAT>
struct SlopeOf {
    __device__ float operator()(float x) const { return slope(WHAT, x); }
};
struct TimesGradient {
    template <class F>
    __device__ static float of(const F& f, float x, float grad) {
        return grad * f(x);
    }
};

template <Activation WHAT, class T>
void launch(const View<const T>& in, const View<const T>& grad, const View<T>& out,
            gpu::Stream stream) {
    const auto layouts = simplify(out.layout, in.layout, grad.layout);
    const auto as_vectors = [&](auto* data, std::size_t i) {
        return View<const uint4>(reinterpret_cast<const uint4*>(data),
                                 wider(layouts[i], kPerVector<T>));
    };
    const auto run = [&](const View<const uint4>& to, const View<const uint4>& x,
                         const View<const uint4>& g) {
        with_rank(to.rank(), [&](auto rank) {
            constexpr int RANK = rank <= 2 ? rank : kMaxRank;
            const Walk<RANK, 3> vectors({to.layout, x.layout, g.layout});
            const unsigned grid = gpu::blocks_for(vectors.size, kVectorThreads * kVectorsEach);
            activation_vectorized_kernel<TimesGradient, SlopeOf<WHAT>, T, RANK>
                <<<grid, kVectorThreads, 0, stream>>>(vectors, x.data, g.data,
                                                      const_cast<uint4*>(to.data));
            gpu::check_launch("activation_vectorized_kernel", grid, kVectorThreads);
        });
    };
    in_pieces(kWalkable, run, as_vectors(out.data, 0), as_vectors(in.data, 1),
              as_vectors(grad.data, 2));
}

}  // namespace

template <class T>
void launch_activate_backward_vectorized(Activation what, const View<const T>& in,
                                         const View<const T>& grad, const View<T>& out,
                                         gpu::Stream stream) {
    switch (what) {
        case Activation::relu:
            return launch<Activation::relu>(in, grad, out, stream);
        case Activation::gelu_erf:
            return launch<Activation::gelu_erf>(in, grad, out, stream);
        case Activation::gelu_tanh:
            return launch<Activation::gelu_tanh>(in, grad, out, stream);
        case Activation::silu:
            return launch<Activation::silu>(in, grad, out, stream);
    }
}
template void launch_activate_backward_vectorized(Activation, const View<const float>&,
                                                  const View<const float>&, const View<float>&,
                                                  gpu::Stream);
template void launch_activate_backward_vectorized(Activation, const View<const bf16>&,
                                                  const View<const bf16>&, const View<bf16>&,
                                                  gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
