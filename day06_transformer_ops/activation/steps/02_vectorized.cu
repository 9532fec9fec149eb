// Step 2: 128-bit loads and stores. Each thread processes two vectors of 4 floats or 8 bf16 instead
// of one element. The functions are those of functions.hpp.
#include "common/gpu/launch.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/activation/steps/functions.hpp"
#include "day06_transformer_ops/activation/steps/vectors.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// Calls g with the function.
template <class G>
void with_function(Activation what, const G& g) {
    switch (what) {
        case Activation::relu:
            return g(Relu());
        case Activation::gelu_erf:
            return g(GeluErf());
        case Activation::gelu_tanh:
            return g(GeluTanh());
        case Activation::silu:
            return g(Silu());
    }
}

}  // namespace

template <class OP, class T>
void launch_activation_vectorized(Activation what, const View<const T>& a, const View<const T>& b,
                                  const View<T>& out, gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    const auto run = [&](const View<uint4>& to, const View<const uint4>& x,
                         const View<const uint4>& y) {
        with_rank(to.rank(), [&](auto rank) {
            constexpr int RANK = rank <= 2 ? rank : kMaxRank;
            const Walk<RANK, 3> vectors({to.layout, x.layout, y.layout});
            const unsigned grid = gpu::blocks_for(vectors.size, kVectorThreads * kVectorsEach);
            with_function(what, [&]<class F>(F) {
                activation_vectorized_kernel<OP, F, T, RANK>
                    <<<grid, kVectorThreads, 0, stream>>>(vectors, x.data, y.data, to.data);
            });
            gpu::check_launch("activation_vectorized_kernel", grid, kVectorThreads);
        });
    };
    in_pieces(
        kWalkable, run,
        View<uint4>(reinterpret_cast<uint4*>(out.data), wider(layouts[0], kPerVector<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(a.data), wider(layouts[1], kPerVector<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(b.data),
                          wider(layouts[2], kPerVector<T>)));
}

template void launch_activation_vectorized<Plain>(Activation, const View<const float>&,
                                                  const View<const float>&, const View<float>&,
                                                  gpu::Stream);
template void launch_activation_vectorized<Biased>(Activation, const View<const float>&,
                                                   const View<const float>&, const View<float>&,
                                                   gpu::Stream);
template void launch_activation_vectorized<Gated>(Activation, const View<const float>&,
                                                  const View<const float>&, const View<float>&,
                                                  gpu::Stream);
template void launch_activation_vectorized<Plain>(Activation, const View<const bf16>&,
                                                  const View<const bf16>&, const View<bf16>&,
                                                  gpu::Stream);
template void launch_activation_vectorized<Biased>(Activation, const View<const bf16>&,
                                                   const View<const bf16>&, const View<bf16>&,
                                                   gpu::Stream);
template void launch_activation_vectorized<Gated>(Activation, const View<const bf16>&,
                                                  const View<const bf16>&, const View<bf16>&,
                                                  gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
