// The naive kernel, and the launchers. Faster versions are in steps/copy/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/copy/steps.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

// --- the naive kernel ----------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// [copy]
template <class T>
__global__ void copy_kernel(const __grid_constant__ View<const T> in,
                            const __grid_constant__ View<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = in(at);
    }
}
// [copy]

// --- launchers -----------------------------------------------------------------------------------

void copy_one_element(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(out.layout.size(), kThreads);
    with_element(in.element, [&](auto element) {
        using T = decltype(element);
        copy_kernel<T><<<grid, kThreads, 0, stream>>>(in.as<T>(), out.as<T>());
    });
    gpu::check_launch("copy_kernel", grid, kThreads);
}

void launch(const CopyPlan& plan, gpu::Stream stream) {
    switch (plan.path) {
        case CopyPath::nothing:
            return;
        case CopyPath::one_element:
            return copy_one_element(plan.in, plan.out, stream);
        case CopyPath::rows:
        case CopyPath::any_layout:
            return launch_copy_walk(plan.in, plan.out, stream);
        case CopyPath::one_run:
            return launch_copy_one_run(plan.in, plan.out, stream);
        case CopyPath::repeat:
            return launch_copy_repeat(plan.in, plan.out, stream);
        case CopyPath::transposed:
            return transpose_untyped_cuda(plan.in, plan.out, {.stream = stream});
        case CopyPath::tile:
            return gpu::by_tile("copy", [&] { launch_copy_tile(plan.in, plan.out, stream); });
    }
}

}  // namespace

void copy_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                       const gpu::Launch<CopyPath>& how) {
    check_copy(in, out, how.path);
    launch(plan_copy(in, out, how.path), how.stream);
}

}  // namespace sixdays::day03_views
