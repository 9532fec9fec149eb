// The twins, one thread per row, and the launchers. Faster versions are in steps/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"
#include "day06_transformer_ops/softmax/softmax_row.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twins -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 128;

// [softmax]
template <class T>
__global__ void softmax_kernel(const __grid_constant__ Rows<const T> in,
                               const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        float m = -INFINITY;
        for (std::int64_t i = 0; i < in.length; ++i) {
            m = std::fmax(m, float(x[i]));
        }
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            sum += std::exp(float(x[i]) - m);
        }
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(std::exp(float(x[i]) - m) / sum);
        }
    }
}
// [softmax]

template <class T>
__global__ void log_softmax_kernel(const __grid_constant__ Rows<const T> in,
                                   const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const float m = largest_of(x, in.length);
        const float log_sum = std::log(sum_of_exp(x, in.length, m));
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(float(x[i]) - m - log_sum);
        }
    }
}

template <class T>
__global__ void masked_softmax_kernel(const __grid_constant__ Rows<const T> in,
                                      const __grid_constant__ Rows<const std::uint8_t> mask,
                                      const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<const std::uint8_t> seen = mask.row(r);
        const Row<T> y = out.row(r);
        float m = -INFINITY;
        for (std::int64_t i = 0; i < in.length; ++i) {
            if (seen[i] != 0) m = std::fmax(m, float(x[i]));
        }
        float sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) {
            if (seen[i] != 0) sum += std::exp(float(x[i]) - m);
        }
        for (std::int64_t i = 0; i < in.length; ++i) {
            const float e = seen[i] != 0 ? std::exp(float(x[i]) - m) : 0.0f;
            y[i] = T(e / sum);
        }
    }
}

template <class T>
__global__ void causal_softmax_kernel(const __grid_constant__ Rows<const T> in, std::int64_t tokens,
                                      const __grid_constant__ Rows<T> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        const std::int64_t n = seen_by(r % tokens, tokens, in.length);
        const float m = largest_of(x, n);
        const float sum = sum_of_exp(x, n, m);
        for (std::int64_t i = 0; i < in.length; ++i) {
            y[i] = T(i < n ? std::exp(float(x[i]) - m) / sum : 0.0f);
        }
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                  const gpu::Launch<SoftmaxPath>& how) {
    const auto plan = plan_softmax<T>(SoftmaxKind::softmax, in, dim, out, how);
    if (out.size() == 0) return;
    switch (plan.path) {
        case SoftmaxPath::thread_per_row: {
            const unsigned grid = gpu::blocks_for(plan.in.count(), kThreads);
            softmax_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, plan.out);
            return gpu::check_launch("softmax_kernel", grid, kThreads);
        }
        case SoftmaxPath::warp_per_row:
            return launch_softmax_warp(plan.in, plan.out, how.stream);
        case SoftmaxPath::online:
            return launch_softmax_online(plan.in, plan.out, how.stream);
        case SoftmaxPath::registers:
            return launch_softmax_registers<Softmax>(plan.in, plan.out, 0, how.stream);
        case SoftmaxPath::shared:
            return launch_softmax_shared<Softmax>(plan.in, plan.out, 0, how.stream);
        case SoftmaxPath::split: {
            const auto parts = [&](gpu::Carver& c) { return softmax_parts(c, plan.in); };
            return launch_softmax_split(plan.in, plan.out,
                                        gpu::carve("softmax", how.workspace, parts), how.stream);
        }
        case SoftmaxPath::tile:
            return gpu::by_tile("softmax", [&] {
                launch_softmax_tile<T>(plan.in, plan.out,
                                       can_be_vectors(plan.in) && can_be_vectors(plan.out),
                                       how.stream);
            });
    }
}

template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                      const gpu::Launch<SoftmaxPath>& how) {
    const auto plan = plan_softmax<T>(SoftmaxKind::log_softmax, in, dim, out, how);
    if (out.size() == 0) return;
    if (plan.path == SoftmaxPath::registers) {
        return launch_softmax_registers<LogSoftmax>(plan.in, plan.out, 0, how.stream);
    }
    if (plan.path == SoftmaxPath::shared) {
        return launch_softmax_shared<LogSoftmax>(plan.in, plan.out, 0, how.stream);
    }
    const unsigned grid = gpu::blocks_for(plan.in.count(), kThreads);
    log_softmax_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, plan.out);
    gpu::check_launch("log_softmax_kernel", grid, kThreads);
}

template <class T>
void masked_softmax_cuda(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                         View<T> out, const gpu::Launch<SoftmaxPath>& how) {
    const auto plan = plan_softmax<T>(SoftmaxKind::masked_softmax, in, dim, out, how, mask);
    if (out.size() == 0) return;
    if (plan.path == SoftmaxPath::registers) {
        return launch_masked_softmax(plan.in, plan.mask, plan.out, how.stream);
    }
    const unsigned grid = gpu::blocks_for(plan.in.count(), kThreads);
    masked_softmax_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, plan.mask, plan.out);
    gpu::check_launch("masked_softmax_kernel", grid, kThreads);
}

template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out, const gpu::Launch<SoftmaxPath>& how) {
    const auto plan = plan_softmax<T>(SoftmaxKind::causal_softmax, in, -1, out, how);
    if (out.size() == 0) return;
    const std::int64_t tokens = in.extent(in.rank() - 2);
    if (plan.path == SoftmaxPath::registers) {
        return launch_softmax_registers<Softmax>(plan.in, plan.out, tokens, how.stream);
    }
    if (plan.path == SoftmaxPath::shared) {
        return launch_softmax_shared<Softmax>(plan.in, plan.out, tokens, how.stream);
    }
    const unsigned grid = gpu::blocks_for(plan.in.count(), kThreads);
    causal_softmax_kernel<T><<<grid, kThreads, 0, how.stream>>>(plan.in, tokens, plan.out);
    gpu::check_launch("causal_softmax_kernel", grid, kThreads);
}

template void softmax_cuda(View<const float>, int, View<float>, const gpu::Launch<SoftmaxPath>&);
template void log_softmax_cuda(View<const float>, int, View<float>,
                               const gpu::Launch<SoftmaxPath>&);
template void masked_softmax_cuda(View<const float>, View<const std::uint8_t>, int, View<float>,
                                  const gpu::Launch<SoftmaxPath>&);
template void causal_softmax_cuda(View<const float>, View<float>, const gpu::Launch<SoftmaxPath>&);
template void softmax_cuda(View<const bf16>, int, View<bf16>, const gpu::Launch<SoftmaxPath>&);
template void log_softmax_cuda(View<const bf16>, int, View<bf16>, const gpu::Launch<SoftmaxPath>&);
template void masked_softmax_cuda(View<const bf16>, View<const std::uint8_t>, int, View<bf16>,
                                  const gpu::Launch<SoftmaxPath>&);
template void causal_softmax_cuda(View<const bf16>, View<bf16>, const gpu::Launch<SoftmaxPath>&);

}  // namespace sixdays::day06_transformer_ops
