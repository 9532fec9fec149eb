// Step 2: a thread's element becomes a quad, 4 floats or 8 bf16, and it takes two of them. The
// functions are those of functions.hpp.
#include "common/gpu/launch.hpp"
#include "common/tensor/quads.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/activation/steps/functions.hpp"
#include "day06_transformer_ops/activation/steps/steps.hpp"
#include "day06_transformer_ops/quad.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;
constexpr int kEach = 2;  // quads of a tensor in flight

// [kernel]
// F: the function. b is not read for Plain.
template <class OP, class F, class T, int RANK>
__global__ void __launch_bounds__(kThreads)
    activation_quads_kernel(const __grid_constant__ Walk<RANK, 3> quads, const uint4* a,
                            const uint4* b, uint4* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    uint4 p[kEach], q[kEach];
    std::int64_t to[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < quads.size) {
            // With one dim left, all tensors are one run of memory.
            const Offsets<3> at = RANK == 1 ? Offsets<3>{k, k, k} : quads.offsets(k);
            to[j] = at.of[0];
            p[j] = a[at.of[1]];
            q[j] = std::is_same_v<OP, Plain> ? p[j] : b[at.of[2]];
        }
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < quads.size) {
            float x[kPerQuad<T>], y[kPerQuad<T>];
            unpack<T>(p[j], x);
            unpack<T>(q[j], y);
#pragma unroll
            for (int e = 0; e < kPerQuad<T>; ++e) x[e] = OP::of(F(), x[e], y[e]);
            out[to[j]] = pack<T>(x);
        }
    }
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
            const unsigned grid = gpu::blocks_for(quads.size, kThreads * kEach);
            with_function(what, [&]<class F>(F) {
                activation_quads_kernel<OP, F, T, RANK>
                    <<<grid, kThreads, 0, stream>>>(quads, x.data, y.data, to.data);
            });
            gpu::check_launch("activation_quads_kernel", grid, kThreads);
        });
    };
    in_pieces(
        kWalkable, run,
        View<uint4>(reinterpret_cast<uint4*>(out.data), wider(layouts[0], kPerQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(a.data), wider(layouts[1], kPerQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(b.data), wider(layouts[2], kPerQuad<T>)));
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
