// The loop's twin, a thread for each element, and the launcher.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// [activate_backward]
__global__ void activate_backward_kernel(Activation what,
                                         const __grid_constant__ View<const float> in,
                                         const __grid_constant__ View<const float> grad,
                                         const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = grad(at) * slope(what, in(at));
    }
}
// [activate_backward]

}  // namespace

void activate_backward_cuda(Activation what, View<const float> in, View<const float> grad,
                            View<float> out, gpu::Stream stream) {
    check_activate_backward(in, grad, out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.size(), kThreads);
    activate_backward_kernel<<<grid, kThreads, 0, stream>>>(what, in, grad, out);
    gpu::check_launch("activate_backward_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
