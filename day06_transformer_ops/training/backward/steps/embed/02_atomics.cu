// One thread per element of grad. Tokens with the same id write to the same element, so the
// addition is atomic; the order varies, and so do the last bits of the sum.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

__global__ void embed_atomics_kernel(const __grid_constant__ Rows<const float> grad,
                                     const __grid_constant__ View<const std::int64_t> ids,
                                     const __grid_constant__ View<const std::int64_t> places,
                                     const __grid_constant__ EmbedGradients d) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::int64_t r = k / grad.length, c = k - r * grad.length;
    if (r < grad.count()) {
        const Index at = unravel(r, ids.shape());
        const float g = grad.row(r)[c];
        if (names_row(ids(at), d.tokens)) atomicAdd(&d.tokens(ids(at), c), g);
        if (d.positions.rank() > 0 && names_row(places(at), d.positions)) {
            atomicAdd(&d.positions(places(at), c), g);
        }
    }
}

}  // namespace

void launch_embed_backward_atomics(const Rows<const float>& grad,
                                   const View<const std::int64_t>& ids,
                                   const View<const std::int64_t>& places, const EmbedGradients& d,
                                   gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(grad.count() * grad.length, kThreads);
    embed_atomics_kernel<<<grid, kThreads, 0, stream>>>(grad, ids, places, d);
    gpu::check_launch("embed_atomics_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
