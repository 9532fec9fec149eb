// The twins, and the launchers. Faster versions are in steps/.
#include "day06_transformer_ops/activation/activation.hpp"

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/activation/steps/steps.hpp"
#include "day06_transformer_ops/activation/tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twins -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void activate_kernel(Activation what, const __grid_constant__ View<const T> in,
                                const __grid_constant__ View<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(in(at))));
    }
}

template <class T>
__global__ void activate_biased_kernel(Activation what, const __grid_constant__ View<const T> in,
                                       const __grid_constant__ View<const T> bias,
                                       const __grid_constant__ View<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(in(at)) + float(bias(at))));
    }
}

template <class T>
__global__ void activate_gated_kernel(Activation what, const __grid_constant__ View<const T> gate,
                                      const __grid_constant__ View<const T> in,
                                      const __grid_constant__ View<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = T(activated(what, float(gate(at))) * float(in(at)));
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

template <class T>
void activate_cuda(Activation what, View<const Same<T>> in, View<T> out,
                   const gpu::Launch<ActivationPath>& how) {
    require_known("activate", "activation", what);
    check_activate<T>(in, out, how.path);
    if (out.size() == 0) return;
    switch (how.path.value_or(choose_activation<T>(in, in, out))) {
        case ActivationPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            activate_kernel<T><<<grid, kThreads, 0, how.stream>>>(what, in, out);
            return gpu::check_launch("activate_kernel", grid, kThreads);
        }
        case ActivationPath::vectorized:
            return launch_activation_vectorized<Plain>(what, in, in, out, how.stream);
        case ActivationPath::tile:
            return gpu::by_tile("activate", [&] {
                launch_activation_tile<Plain, T>(what, in, in, out, how.stream);
            });
    }
}

template <class T>
void activate_biased_cuda(Activation what, View<const Same<T>> in, View<const Same<T>> bias,
                          View<T> out, const gpu::Launch<ActivationPath>& how) {
    require_known("activate_biased", "activation", what);
    check_activate_biased<T>(in, bias, out, how.path);
    if (out.size() == 0) return;
    bias = broadcast_to(bias, out.shape());
    switch (how.path.value_or(choose_activation<T>(in, bias, out))) {
        case ActivationPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            activate_biased_kernel<T><<<grid, kThreads, 0, how.stream>>>(what, in, bias, out);
            return gpu::check_launch("activate_biased_kernel", grid, kThreads);
        }
        case ActivationPath::vectorized:
            return launch_activation_vectorized<Biased>(what, in, bias, out, how.stream);
        case ActivationPath::tile:
            return gpu::by_tile("activate_biased", [&] {
                launch_activation_tile<Biased, T>(what, in, bias, out, how.stream);
            });
    }
}

template <class T>
void activate_gated_cuda(Activation what, View<const Same<T>> gate, View<const Same<T>> in,
                         View<T> out, const gpu::Launch<ActivationPath>& how) {
    require_known("activate_gated", "activation", what);
    check_activate_gated<T>(gate, in, out, how.path);
    if (out.size() == 0) return;
    switch (how.path.value_or(choose_activation<T>(gate, in, out))) {
        case ActivationPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            activate_gated_kernel<T><<<grid, kThreads, 0, how.stream>>>(what, gate, in, out);
            return gpu::check_launch("activate_gated_kernel", grid, kThreads);
        }
        case ActivationPath::vectorized:
            return launch_activation_vectorized<Gated>(what, gate, in, out, how.stream);
        case ActivationPath::tile:
            return gpu::by_tile("activate_gated", [&] {
                launch_activation_tile<Gated, T>(what, gate, in, out, how.stream);
            });
    }
}

template void activate_cuda(Activation, View<const float>, View<float>,
                            const gpu::Launch<ActivationPath>&);
template void activate_biased_cuda(Activation, View<const float>, View<const float>, View<float>,
                                   const gpu::Launch<ActivationPath>&);
template void activate_gated_cuda(Activation, View<const float>, View<const float>, View<float>,
                                  const gpu::Launch<ActivationPath>&);
template void activate_cuda(Activation, View<const bf16>, View<bf16>,
                            const gpu::Launch<ActivationPath>&);
template void activate_biased_cuda(Activation, View<const bf16>, View<const bf16>, View<bf16>,
                                   const gpu::Launch<ActivationPath>&);
template void activate_gated_cuda(Activation, View<const bf16>, View<const bf16>, View<bf16>,
                                  const gpu::Launch<ActivationPath>&);

}  // namespace sixdays::day06_transformer_ops
