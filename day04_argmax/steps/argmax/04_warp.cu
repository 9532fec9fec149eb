// Step 4: one warp per output. Lanes read each other's registers by shuffles, so there is no shared
// memory and no barrier, and a short line leaves few threads idle. The tie rule must hold across
// lanes: combine() compares the indices of equal elements.
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

template <int RANK, class OP>
__global__ void warp_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                            std::uint32_t length, std::int64_t stride, const OP op) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t k = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (k >= walk.size) return;  // k is the same in all 32 lanes
    const Offsets<2> at = walk.offsets(k);
    const float* line = in + at.of[0];
    auto mine = OP::none();
    for (std::uint32_t i = lane; i < length; i += 32) {
        OP::take(mine, line[i * stride], i);
    }
    mine = gpu::warp_reduce(mine, OP::combine);
    if (lane == 0) op.write(at.of[1], mine);
}

}  // namespace

template <class OP>
void launch_warp(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        const unsigned grid = gpu::blocks_for(walk.size, kThreads / 32);
        warp_kernel<<<grid, kThreads, 0, stream>>>(
            walk, in, static_cast<std::uint32_t>(lines.length()), lines.stride(), piece);
        gpu::check_launch("warp_kernel", grid, kThreads);
    });
}

template void launch_warp(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_warp(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_warp(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_warp(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
