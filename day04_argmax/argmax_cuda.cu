// The naive kernel, and the launchers. Faster versions are in steps/argmax/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"
#include "day04_argmax/tiles.hpp"

namespace sixdays::day04_argmax {

// --- the naive kernel ----------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// [argmax]
// first: where the line of each output begins. Its elements are `stride` apart.
__global__ void argmax_kernel(const __grid_constant__ View<const float> first, std::int64_t length,
                              std::int64_t stride, const __grid_constant__ View<std::int64_t> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        const float* line = &first(at);
        float best = line[0];
        std::int64_t where = 0;
        for (std::int64_t i = 1; i < length; ++i) {
            const float x = line[i * stride];
            if (beats(x, best)) {
                best = x;
                where = i;
            }
        }
        out(at) = where;
    }
}
// [argmax]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

void argmax_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ArgmaxPath>& how) {
    const LinesPlan<std::int64_t> plan = plan_argmax(in, dim, out, how);
    if (out.size() == 0) return;
    const Lines& lines = plan.lines;
    const Layout& to = plan.out.layout;
    const gpu::Stream stream = how.stream;
    const Pick<Largest> op = {out.data, nullptr};
    switch (plan.path) {
        case ArgmaxPath::one_thread: {
            const unsigned grid = gpu::blocks_for(lines.count(), kThreads);
            argmax_kernel<<<grid, kThreads, 0, stream>>>(lines.first, lines.length(),
                                                         lines.stride(), plan.out);
            return gpu::check_launch("argmax_kernel", grid, kThreads);
        }
        case ArgmaxPath::shared_tree:
            return launch_shared_tree(lines, plan.out, stream);
        case ArgmaxPath::walk:
            return launch_walk(lines, to, op, stream);
        case ArgmaxPath::warp:
            return launch_warp(lines, to, op, stream);
        case ArgmaxPath::vectorized:
            return launch_vectorized(lines, to, op, stream);
        case ArgmaxPath::short_lines:
            return launch_short_lines(lines, to, op, stream);
        case ArgmaxPath::strided:
            return launch_strided(lines, to, op, stream);
        case ArgmaxPath::split:
            return launch_split("argmax", lines, to, op, how.workspace, stream);
        case ArgmaxPath::tile:
            return gpu::by_tile("argmax",
                                [&] { launch_argmax_tile(lines, false, plan.out, stream); });
    }
}

}  // namespace sixdays::day04_argmax
