// Step 2: a thread's element becomes a quad, 4 floats or 8 bf16, and the functions are those of
// functions.hpp. One quad a thread is enough: the 2,048 threads of a multiprocessor have 32 KiB in
// flight.
#include "common/gpu/launch.hpp"
#include "common/tensor/quads.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/steps/activation/functions.hpp"
#include "day06_transformer_ops/steps/activation/steps.hpp"
#include "day06_transformer_ops/steps/quad.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// [kernel]
// F: the function. b is not read for Plain.
template <class OP, class F, class T, int RANK>
__global__ void __launch_bounds__(kThreads)
    activation_quads_kernel(const __grid_constant__ Walk<RANK, 3> quads, const uint4* a,
                            const uint4* b, uint4* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= quads.size) return;
    const Offsets<3> at = quads.offsets(k);
    const uint4 p = a[at.of[1]];
    const uint4 q = std::is_same_v<OP, Plain> ? p : b[at.of[2]];
    float x[kOfQuad<T>], y[kOfQuad<T>];
    unpack<T>(p, x);
    unpack<T>(q, y);
#pragma unroll
    for (int e = 0; e < kOfQuad<T>; ++e) x[e] = OP::of(F(), x[e], y[e]);
    out[at.of[0]] = pack<T>(x);
}
// [kernel]

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
void launch_activation_quads(Activation what, const View<const T>& a, const View<const T>& b,
                             const View<T>& out, gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    const auto run = [&](const View<uint4>& to, const View<const uint4>& x,
                         const View<const uint4>& y) {
        with_rank(to.rank(), [&](auto rank) {
            constexpr int RANK = rank <= 2 ? rank : kMaxRank;
            const Walk<RANK, 3> quads({to.layout, x.layout, y.layout});
            const unsigned grid = gpu::blocks_for(quads.size, kThreads);
            with_function(what, [&]<class F>(F) {
                activation_quads_kernel<OP, F, T, RANK>
                    <<<grid, kThreads, 0, stream>>>(quads, x.data, y.data, to.data);
            });
            gpu::check_launch("activation_quads_kernel", grid, kThreads);
        });
    };
    in_pieces(
        kWalkable, run,
        View<uint4>(reinterpret_cast<uint4*>(out.data), wider(layouts[0], kOfQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(a.data), wider(layouts[1], kOfQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(b.data), wider(layouts[2], kOfQuad<T>)));
}

template void launch_activation_quads<Plain>(Activation, const View<const float>&,
                                             const View<const float>&, const View<float>&,
                                             gpu::Stream);
template void launch_activation_quads<Biased>(Activation, const View<const float>&,
                                              const View<const float>&, const View<float>&,
                                              gpu::Stream);
template void launch_activation_quads<Gated>(Activation, const View<const float>&,
                                             const View<const float>&, const View<float>&,
                                             gpu::Stream);
template void launch_activation_quads<Plain>(Activation, const View<const bf16>&,
                                             const View<const bf16>&, const View<bf16>&,
                                             gpu::Stream);
template void launch_activation_quads<Biased>(Activation, const View<const bf16>&,
                                              const View<const bf16>&, const View<bf16>&,
                                              gpu::Stream);
template void launch_activation_quads<Gated>(Activation, const View<const bf16>&,
                                             const View<const bf16>&, const View<bf16>&,
                                             gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
