// The twins, one thread per row, and the launchers. Faster versions are in steps/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/norm/steps/steps.hpp"
#include "day06_transformer_ops/norm/tiles.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twins -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 128;

// [layer_norm]
template <class T>
__global__ void layer_norm_kernel(const __grid_constant__ Rows<const T> in,
                                  const __grid_constant__ NormParameters parameters,
                                  const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const float N = static_cast<float>(in.length), first = float(x[0]);
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            sum += float(x[i]) - first;
        }
        const float mean = first + sum / N;
        float squares = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float d = float(x[i]) - mean;
            squares += d * d;
        }
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float z = (float(x[i]) - mean) * scale;
            y[i] = T(parameters(z, i));
        }
    }
}
// [layer_norm]

template <class T>
__global__ void rms_norm_kernel(const __grid_constant__ Rows<const T> in,
                                const __grid_constant__ NormParameters parameters,
                                const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        float squares = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            squares += float(x[i]) * float(x[i]);
        }
        const float N = static_cast<float>(in.length);
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(parameters(float(x[i]) * scale, i));
        }
    }
}

template <class T>
__global__ void add_kernel(const __grid_constant__ Rows<const T> in,
                           const __grid_constant__ Rows<T> residual) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> s = residual.row(r);
        for (std::int64_t i = 0; i < in.length; ++i) {
            s[i] = T(float(s[i]) + float(x[i]));
        }
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

// Launches the plan; `twin(grid)` launches its twin.
template <class OP, class T, class Twin>
void launch(const char* op, const NormPlan<T>& plan, const NormParameters& parameters,
            gpu::Stream stream, const Twin& twin) {
    const auto& [path, in, residual, out] = plan;
    switch (path) {
        case NormPath::thread_per_row:
            return twin(gpu::blocks_for(in.count(), kThreads));
        case NormPath::warp_per_row:
            return launch_norm_warp<OP>(in, parameters, residual, out, stream);
        case NormPath::registers:
            return launch_norm_registers<OP>(in, parameters, residual, out, stream);
        case NormPath::tile:
            return gpu::by_tile(op, [&] {
                launch_norm_tile(std::is_same_v<OP, LayerNorm>, plan.in, parameters, plan.out,
                                 can_be_vectors(plan.in) && can_be_vectors(plan.out), stream);
            });
    }
}

}  // namespace

template <class T>
void layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                     const gpu::Launch<NormPath>& how) {
    const auto plan = plan_norm<T>("layer_norm", in, parameters, out, how);
    if (out.size() == 0) return;
    launch<LayerNorm>("layer_norm", plan, parameters, how.stream, [&](unsigned grid) {
        layer_norm_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, parameters, plan.out);
        gpu::check_launch("layer_norm_kernel", grid, kThreads);
    });
}

template <class T>
void rms_norm_cuda(View<const Same<T>> in, const NormParameters& parameters, View<T> out,
                   const gpu::Launch<NormPath>& how) {
    const auto plan = plan_norm<T>("rms_norm", in, parameters, out, how);
    if (out.size() == 0) return;
    launch<RmsNorm>("rms_norm", plan, parameters, how.stream, [&](unsigned grid) {
        rms_norm_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, parameters, plan.out);
        gpu::check_launch("rms_norm_kernel", grid, kThreads);
    });
}

template <class T>
void add_layer_norm_cuda(View<const Same<T>> in, const NormParameters& parameters,
                         View<Same<T>> residual, View<T> out, const gpu::Launch<NormPath>& how) {
    const auto plan = plan_norm<T>("add_layer_norm", in, parameters, out, how, residual);
    if (out.size() == 0) return;
    launch<LayerNorm>("add_layer_norm", plan, parameters, how.stream, [&](unsigned grid) {
        add_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, plan.residual);
        gpu::check_launch("add_kernel", grid, kThreads);
        layer_norm_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.sum(), parameters, plan.out);
        gpu::check_launch("layer_norm_kernel", grid, kThreads);
    });
}

template void layer_norm_cuda(View<const float>, const NormParameters&, View<float>,
                              const gpu::Launch<NormPath>&);
template void rms_norm_cuda(View<const float>, const NormParameters&, View<float>,
                            const gpu::Launch<NormPath>&);
template void add_layer_norm_cuda(View<const float>, const NormParameters&, View<float>,
                                  View<float>, const gpu::Launch<NormPath>&);
template void layer_norm_cuda(View<const bf16>, const NormParameters&, View<bf16>,
                              const gpu::Launch<NormPath>&);
template void rms_norm_cuda(View<const bf16>, const NormParameters&, View<bf16>,
                            const gpu::Launch<NormPath>&);
template void add_layer_norm_cuda(View<const bf16>, const NormParameters&, View<bf16>, View<bf16>,
                                  const gpu::Launch<NormPath>&);

}  // namespace sixdays::day06_transformer_ops
