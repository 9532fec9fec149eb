// The twin, one thread per element, and the launcher.
#include "common/gpu/launch.hpp"
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void activate_backward_kernel(Activation what, const __grid_constant__ View<const T> in,
                                         const __grid_constant__ View<const T> grad,
                                         const __grid_constant__ View<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = T(float(grad(at)) * slope(what, float(in(at))));
    }
}

__global__ void activate_gated_backward_kernel(Activation what,
                                               const __grid_constant__ View<const float> gate,
                                               const __grid_constant__ View<const float> in,
                                               const __grid_constant__ View<const float> grad,
                                               const __grid_constant__ View<float> d_gate,
                                               const __grid_constant__ View<float> d_in) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < gate.size()) {
        const Index at = unravel(k, gate.shape());
        const float g = grad(at), x = in(at);
        d_gate(at) = g * x * slope(what, gate(at));
        d_in(at) = g * activated(what, gate(at));
    }
}

}  // namespace

template <class T>
void activate_backward_cuda(Activation what, View<const Same<T>> in, View<const Same<T>> grad,
                            View<T> out, const gpu::Launch<ActivationBackwardPath>& how) {
    require_known("activate_backward", "activation", what);
    check_activate_backward(in, grad, out, how.path);
    if (out.size() == 0) return;
    switch (how.path.value_or(choose_activation<T>(in, grad, out))) {
        case ActivationPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            activate_backward_kernel<T><<<grid, kThreads, 0, how.stream>>>(what, in, grad, out);
            return gpu::check_launch("activate_backward_kernel", grid, kThreads);
        }
        case ActivationPath::vectorized:
            return launch_activate_backward_vectorized<T>(what, in, grad, out, how.stream);
        case ActivationPath::tile:
            return;  // rejected above
    }
}
template void activate_backward_cuda(Activation, View<const float>, View<const float>, View<float>,
                                     const gpu::Launch<ActivationBackwardPath>&);
template void activate_backward_cuda(Activation, View<const bf16>, View<const bf16>, View<bf16>,
                                     const gpu::Launch<ActivationBackwardPath>&);

void activate_gated_backward_cuda(Activation what, View<const float> gate, View<const float> in,
                                  View<const float> grad, View<float> d_gate, View<float> d_in,
                                  gpu::Stream stream) {
    require_known("activate_gated_backward", "activation", what);
    check_activate_gated_backward(gate, in, grad, d_gate, d_in);
    if (gate.size() == 0) return;
    const unsigned grid = gpu::blocks_for(gate.size(), kThreads);
    activate_gated_backward_kernel<<<grid, kThreads, 0, stream>>>(what, gate, in, grad, d_gate,
                                                                  d_in);
    gpu::check_launch("activate_gated_backward_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
