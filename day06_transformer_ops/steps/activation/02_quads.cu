// Step 2: a thread's element becomes a quad, 4 floats or 8 bf16, and a thread asks for several before
// it computes with the first.
#include "common/gpu/launch.hpp"
#include "common/tensor/quads.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/steps/activation/steps.hpp"
#include "day06_transformer_ops/steps/quad.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // quads of a tensor in flight

// [each]
template <class T, class OP>
__device__ uint4 each(const OP& op, const uint4& p, const uint4& q) {
    float x[kOfQuad<T>], y[kOfQuad<T>];
    unpack<T>(p, x);
    unpack<T>(q, y);
    for (int e = 0; e < kOfQuad<T>; ++e) x[e] = op(x[e], y[e]);
    return pack<T>(x);
}
// [each]

// [kernel]
template <class T, int RANK, class OP>
__global__ void __launch_bounds__(kThreads)
    activation_quads_kernel(const __grid_constant__ Walk<RANK, 3> quads, const OP op,
                            const uint4* a, const uint4* b, uint4* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    uint4 x[kEach], y[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < quads.size) {
            const Offsets<3> at = quads.offsets(k);
            to[j] = at.of[0];
            x[j] = a[at.of[1]];
            y[j] = std::is_same_v<OP, Plain> ? x[j] : b[at.of[2]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < quads.size) {
            out[to[j]] = each<T>(op, x[j], y[j]);
        }
    }
}
// [kernel]

}  // namespace

template <class T, class OP>
void launch_activation_quads(const OP& op, const View<const T>& a, const View<const T>& b,
                             const View<T>& out, gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    const auto run = [&](const View<uint4>& to, const View<const uint4>& x,
                         const View<const uint4>& y) {
        with_rank(to.rank(), [&](auto rank) {
            constexpr int RANK = rank <= 2 ? 2 : kMaxRank;
            const Walk<RANK, 3> quads({to.layout, x.layout, y.layout});
            const unsigned grid = gpu::blocks_for(quads.size, kThreads * kEach);
            activation_quads_kernel<T, RANK>
                <<<grid, kThreads, 0, stream>>>(quads, op, x.data, y.data, to.data);
            gpu::check_launch("activation_quads_kernel", grid, kThreads);
        });
    };
    in_pieces(
        kWalkable, run,
        View<uint4>(reinterpret_cast<uint4*>(out.data), wider(layouts[0], kOfQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(a.data), wider(layouts[1], kOfQuad<T>)),
        View<const uint4>(reinterpret_cast<const uint4*>(b.data), wider(layouts[2], kOfQuad<T>)));
}

template void launch_activation_quads(const Plain&, const View<const float>&,
                                      const View<const float>&, const View<float>&, gpu::Stream);
template void launch_activation_quads(const Biased&, const View<const float>&,
                                      const View<const float>&, const View<float>&, gpu::Stream);
template void launch_activation_quads(const Gated&, const View<const float>&,
                                      const View<const float>&, const View<float>&, gpu::Stream);
template void launch_activation_quads(const Plain&, const View<const bf16>&,
                                      const View<const bf16>&, const View<bf16>&, gpu::Stream);
template void launch_activation_quads(const Biased&, const View<const bf16>&,
                                      const View<const bf16>&, const View<bf16>&, gpu::Stream);
template void launch_activation_quads(const Gated&, const View<const bf16>&,
                                      const View<const bf16>&, const View<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
