// The naive kernels, and the launchers. Faster versions are argmax's steps with other operations.
#include "day04_argmax/reduce.hpp"

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"
#include "day04_argmax/tiles.hpp"

namespace sixdays::day04_argmax {

// --- the naive kernels ---------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

__global__ void argmin_kernel(const __grid_constant__ View<const float> first, std::int64_t length,
                              std::int64_t stride, const __grid_constant__ View<std::int64_t> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        const float* line = &first(at);
        std::int64_t where = 0;
        for (std::int64_t i = 1; i < length; ++i) {
            const float best = line[where * stride];
            if (Smallest::beats(line[i * stride], best)) where = i;
        }
        out(at) = where;
    }
}

// along: the reduced dimensions, one or several. JOIN: Largest, Smallest, Add, Multiply.
template <class JOIN>
__global__ void reduce_kernel(const __grid_constant__ View<const float> first,
                              const __grid_constant__ Layout along, float divisor,
                              const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        const std::int64_t begin = offset(first.layout, at);
        float result = JOIN::kStart;
        for (std::int64_t i = 0; i < along.size(); ++i) {
            const Index in_line = unravel(i, along.shape);
            result = JOIN::of(result, first.data[begin + offset(along, in_line)]);
        }
        out(at) = result / divisor;
    }
}

// --- launchers -----------------------------------------------------------------------------------

void launch_argmin(const Lines& lines, const View<std::int64_t>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(lines.count(), kThreads);
    argmin_kernel<<<grid, kThreads, 0, stream>>>(lines.first, lines.length(), lines.stride(), out);
    gpu::check_launch("argmin_kernel", grid, kThreads);
}

template <class JOIN>
void launch_reduce(const Lines& lines, float divisor, const View<float>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(lines.count(), kThreads);
    reduce_kernel<JOIN><<<grid, kThreads, 0, stream>>>(lines.first, lines.along, divisor, out);
    gpu::check_launch("reduce_kernel", grid, kThreads);
}

// `twin` launches the naive kernel, `tiles` the tile kernel; `name` is the operation, for messages.
template <class T, class OP, class Twin, class Tiles>
void launch(const char* name, const gpu::Launch<ReducePath>& how, const LinesPlan<T>& plan,
            const OP& op, const Twin& twin, const Tiles& tiles) {
    const Lines& lines = plan.lines;
    const Layout& out = plan.out.layout;
    const gpu::Stream stream = how.stream;
    switch (plan.path) {
        case ReducePath::one_thread:
            return twin();
        case ReducePath::walk:
            return launch_walk(lines, out, op, stream);
        case ReducePath::shared_tree:  // argmax only, rejected before
            return;
        case ReducePath::warp:
            return launch_warp(lines, out, op, stream);
        case ReducePath::vectorized:
            return launch_vectorized(lines, out, op, stream);
        case ReducePath::short_lines:
            return launch_short_lines(lines, out, op, stream);
        case ReducePath::strided:
            return launch_strided(lines, out, op, stream);
        case ReducePath::split:
            return launch_split(name, lines, out, op, how.workspace, stream);
        case ReducePath::tile:
            return gpu::by_tile(name, tiles);
    }
}

}  // namespace

void argmin_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ReducePath>& how) {
    const LinesPlan<std::int64_t> plan = plan_argmin(in, dim, out, how);
    if (out.size() == 0) return;
    launch(
        "argmin", how, plan, Pick<Smallest>{out.data, nullptr},
        [&] { launch_argmin(plan.lines, plan.out, how.stream); },
        [&] { launch_argmax_tile(plan.lines, true, plan.out, how.stream); });
}

void reduce_cuda(Reduction what, View<const float> in, const Dims& dims, View<float> out,
                 const gpu::Launch<ReducePath>& how) {
    const LinesPlan<float> plan = plan_reduce(what, in, dims, out, how);
    if (out.size() == 0) return;
    const Lines& lines = plan.lines;
    const auto by = [&](auto join, const auto& op, float divisor) {
        launch(
            name(what), how, plan, op,
            [&] { launch_reduce<decltype(join)>(lines, divisor, plan.out, how.stream); },
            [&] { launch_reduce_tile(what, lines, plan.out, how.stream); });
    };
    const auto n = static_cast<float>(lines.length());
    switch (what) {
        case Reduction::max:
            return by(Largest(), Pick<Largest>{nullptr, out.data}, 1);
        case Reduction::min:
            return by(Smallest(), Pick<Smallest>{nullptr, out.data}, 1);
        case Reduction::sum:
            return by(Add(), Fold<Add>{out.data, 1}, 1);
        case Reduction::mean:
            return by(Add(), Fold<Add>{out.data, n}, n);
        case Reduction::product:
            return by(Multiply(), Fold<Multiply>{out.data, 1}, 1);
    }
}

}  // namespace sixdays::day04_argmax
