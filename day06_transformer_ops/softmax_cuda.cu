// The loops' twins, a thread for each row, and the launchers. What is faster is in steps/softmax/.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax.hpp"
#include "day06_transformer_ops/softmax_row.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

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
        float m = float(x[0]);
        for (std::int64_t i = 1; i < in.length; ++i) {
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

// [log_softmax]
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
// [log_softmax]

// [masked_softmax]
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
// [masked_softmax]

// [causal_softmax]
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
// [causal_softmax]

// [cross_entropy]
template <class T>
__global__ void cross_entropy_kernel(const __grid_constant__ Rows<const T> logits,
                                     const __grid_constant__ View<const std::int64_t> targets,
                                     const __grid_constant__ View<float> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < logits.count()) {
        const Index at = unravel(r, out.shape());
        const Row<const T> x = logits.row(r);
        const std::int64_t target = targets(at);
        const bool known = 0 <= target && target < logits.length;
        const float m = largest_of(x, logits.length);
        const float sum = sum_of_exp(x, logits.length, m);
        out(at) = known ? std::log(sum) - (float(x[target]) - m) : NAN;
    }
}
// [cross_entropy]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

// Without enough shared memory for a row, 'online' takes what 'shared' would.
template <class T>
SoftmaxPath choose(const View<const T>& in, int dim, const View<T>& out, bool workspace) {
    const SoftmaxPath path = choose_softmax<T>(in, dim, out, workspace);
    const int d = checked_dim("softmax", dim, in.rank());
    return path == SoftmaxPath::shared && bytes_of_shared_row<T>(in.extent(d)) > gpu::most_shared()
               ? SoftmaxPath::online
               : path;
}

// twin: launches the twin with so many blocks.
template <class OP, class T, class Twin>
void launch(SoftmaxPath path, const View<const T>& x, int d, const View<T>& y, std::int64_t tokens,
            gpu::Workspace workspace, gpu::Stream stream, const Twin& twin) {
    const Rows<const T> in = rows_along(x, d);
    const Rows<T> out = rows_along(y, d);
    switch (path) {
        case SoftmaxPath::thread_a_row:
            return twin(gpu::blocks_for(in.count(), kThreads), in, out);
        case SoftmaxPath::warp_a_row:
            return launch_softmax_warp<OP>(in, out, tokens, stream);
        case SoftmaxPath::online:
            return launch_softmax_online<OP>(in, out, tokens, stream);
        case SoftmaxPath::registers:
            return launch_softmax_registers<OP>(in, out, tokens, stream);
        case SoftmaxPath::shared:
            return launch_softmax_shared<OP>(in, out, tokens, stream);
        case SoftmaxPath::split:
            return launch_softmax_split<OP>(
                in, out,
                gpu::carve("softmax", workspace,
                           [&](gpu::Carver& c) { return softmax_parts(c, x, d); }),
                stream);
    }
}

template <class T>
void launch_cross_entropy(View<const T> logits, View<const std::int64_t> targets, View<float> out,
                          gpu::Stream stream) {
    check_cross_entropy<T>(logits, targets, out);
    if (out.size() == 0) return;
    const Rows<const T> rows = rows_along(logits, logits.rank() - 1);
    const unsigned grid = gpu::blocks_for(rows.count(), kThreads);
    cross_entropy_kernel<T><<<grid, kThreads, 0, stream>>>(rows, targets, out);
    gpu::check_launch("cross_entropy_kernel", grid, kThreads);
}

}  // namespace

template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Workspace workspace,
                  gpu::Stream stream) {
    check_softmax<T>(in, dim, out);
    if (out.size() == 0) return;
    softmax_cuda<T>(choose<T>(in, dim, out, bool(workspace)), in, dim, out, workspace, stream);
}

template <class T>
void softmax_cuda(SoftmaxPath path, View<const Same<T>> in, int dim, View<T> out,
                  gpu::Workspace workspace, gpu::Stream stream) {
    check_softmax<T>(path, in, dim, out);
    if (out.size() == 0) return;
    const int d = checked_dim("softmax", dim, in.rank());
    launch<Shares>(path, in, d, out, 0, workspace, stream,
                   [&](unsigned grid, const auto& from, const auto& to) {
                       softmax_kernel<T><<<grid, kThreads, 0, stream>>>(from, to);
                       gpu::check_launch("softmax_kernel", grid, kThreads);
                   });
}

template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Stream stream) {
    check_softmax<T>(in, dim, out);
    if (out.size() == 0) return;
    log_softmax_cuda<T>(choose<T>(in, dim, out, false), in, dim, out, stream);
}

template <class T>
void log_softmax_cuda(SoftmaxPath path, View<const Same<T>> in, int dim, View<T> out,
                      gpu::Stream stream) {
    check_softmax<T>(path, in, dim, out);
    if (out.size() == 0) return;
    const int d = checked_dim("softmax", dim, in.rank());
    launch<LogShares>(path, in, d, out, 0, {}, stream,
                      [&](unsigned grid, const auto& from, const auto& to) {
                          log_softmax_kernel<T><<<grid, kThreads, 0, stream>>>(from, to);
                          gpu::check_launch("log_softmax_kernel", grid, kThreads);
                      });
}

template <class T>
void masked_softmax_cuda(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                         View<T> out, gpu::Stream stream) {
    check_masked_softmax<T>(in, mask, dim, out);
    if (out.size() == 0) return;
    const int d = checked_dim("masked_softmax", dim, in.rank());
    const View<const std::uint8_t> seen = broadcast_to(mask, in.shape());
    const Rows<const T> from = rows_along(in, d);
    const unsigned grid = gpu::blocks_for(from.count(), kThreads);
    masked_softmax_kernel<T>
        <<<grid, kThreads, 0, stream>>>(from, rows_along(seen, d), rows_along(out, d));
    gpu::check_launch("masked_softmax_kernel", grid, kThreads);
}

template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out, gpu::Stream stream) {
    check_causal_softmax<T>(in, out);
    if (out.size() == 0) return;
    causal_softmax_cuda<T>(choose<T>(in, -1, out, false), in, out, stream);
}

template <class T>
void causal_softmax_cuda(SoftmaxPath path, View<const Same<T>> in, View<T> out,
                         gpu::Stream stream) {
    check_causal_softmax<T>(path, in, out);
    if (out.size() == 0) return;
    const int d = in.rank() - 1;
    const std::int64_t tokens = in.extent(d - 1);
    launch<Shares>(path, in, d, out, tokens, {}, stream,
                   [&](unsigned grid, const auto& from, const auto& to) {
                       causal_softmax_kernel<T><<<grid, kThreads, 0, stream>>>(from, tokens, to);
                       gpu::check_launch("causal_softmax_kernel", grid, kThreads);
                   });
}

void cross_entropy_cuda(View<const float> logits, View<const std::int64_t> targets, View<float> out,
                        gpu::Stream stream) {
    launch_cross_entropy(logits, targets, out, stream);
}

void cross_entropy_cuda(View<const bf16> logits, View<const std::int64_t> targets, View<float> out,
                        gpu::Stream stream) {
    launch_cross_entropy(logits, targets, out, stream);
}

template void softmax_cuda(View<const float>, int, View<float>, gpu::Workspace, gpu::Stream);
template void softmax_cuda(SoftmaxPath, View<const float>, int, View<float>, gpu::Workspace,
                           gpu::Stream);
template void log_softmax_cuda(View<const float>, int, View<float>, gpu::Stream);
template void log_softmax_cuda(SoftmaxPath, View<const float>, int, View<float>, gpu::Stream);
template void masked_softmax_cuda(View<const float>, View<const std::uint8_t>, int, View<float>,
                                  gpu::Stream);
template void causal_softmax_cuda(View<const float>, View<float>, gpu::Stream);
template void causal_softmax_cuda(SoftmaxPath, View<const float>, View<float>, gpu::Stream);
template void softmax_cuda(View<const bf16>, int, View<bf16>, gpu::Workspace, gpu::Stream);
template void softmax_cuda(SoftmaxPath, View<const bf16>, int, View<bf16>, gpu::Workspace,
                           gpu::Stream);
template void log_softmax_cuda(View<const bf16>, int, View<bf16>, gpu::Stream);
template void log_softmax_cuda(SoftmaxPath, View<const bf16>, int, View<bf16>, gpu::Stream);
template void masked_softmax_cuda(View<const bf16>, View<const std::uint8_t>, int, View<bf16>,
                                  gpu::Stream);
template void causal_softmax_cuda(View<const bf16>, View<bf16>, gpu::Stream);
template void causal_softmax_cuda(SoftmaxPath, View<const bf16>, View<bf16>, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
