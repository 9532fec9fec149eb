// Step 3, the general form: the naive kernel with any operation, and with the divisions prepared by
// the host (walk.hpp). Everything is passed by value in the kernel's arguments: nothing is
// allocated or copied. No array is indexed by a run-time value, so everything stays in registers:
// nvcc -Xptxas -v reports "0 bytes stack frame".
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

// [kernel]
template <int RANK, class OP>
__global__ void walk_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                            std::uint32_t length, std::int64_t stride, const OP op) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < walk.size) {
        const Offsets<2> at = walk.offsets(k);
        const float* line = in + at.of[0];
        auto mine = OP::none();
        for (std::uint32_t i = 0; i < length; ++i) {
            OP::take(mine, line[i * stride], i);
        }
        op.write(at.of[1], mine);
    }
}
// [kernel]

}  // namespace

template <class OP>
void launch_walk(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        const unsigned grid = gpu::blocks_for(walk.size, kThreads);
        walk_kernel<<<grid, kThreads, 0, stream>>>(
            walk, in, static_cast<std::uint32_t>(lines.length()), lines.stride(), piece);
        gpu::check_launch("walk_kernel", grid, kThreads);
    });
}

template void launch_walk(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_walk(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_walk(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_walk(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
