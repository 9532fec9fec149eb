// Wrong on purpose: one counter for all lines, not one for each. While blocks come in order it counts
// one line after the other, and all goes well. Nobody promises that order.
//
// case: blocks and threads may come in any order
// refused: Blocks run in any order
#include "common/gpu/last_block.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/quad_line.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

using Op = Pick<Largest>;
constexpr int kThreads = 256;

__global__ void one_counter_kernel(const __grid_constant__ LineWalk<kMaxRank> walk, const float* in,
                                   std::uint32_t length, std::uint32_t parts, const Op op,
                                   Best* found, unsigned* done) {
    const std::uint32_t k = blockIdx.x / parts, part = blockIdx.x % parts;
    const Offsets<2> at = walk.offsets(k);
    const QuadLine line(in + at.of[0], length);
    const std::uint32_t each = (line.quads + parts - 1) / parts;
    const std::uint32_t first = min(part * each, line.quads);
    const std::uint32_t last = min(first + each, line.quads);
    Best mine = take_quads<Op, kThreads, 4>(line, first, last, threadIdx.x);
    mine = gpu::block_reduce<kThreads>(mine, Op::combine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;  // <- here
    if (!gpu::last_to_come(done, parts)) return;
    mine = Op::none();
    for (std::uint32_t p = threadIdx.x; p < parts; p += kThreads) {
        mine = Op::combine(mine, found[k * parts + p]);  // <- here
    }
    mine = gpu::block_reduce<kThreads>(mine, Op::combine);
    if (threadIdx.x == 0) op.write(at.of[1], mine, line);
}

}  // namespace

template <>
void launch_split(const Lines& lines, const Layout& out, const Op& op, gpu::Workspace workspace,
                  gpu::Stream stream) {
    const Partials partials =
        gpu::carve("argmax", workspace, [&](gpu::Carver& c) { return partials_of(c, lines); });
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    const auto parts = static_cast<std::uint32_t>(partials.found.extent(1));
    const unsigned grid = walk.size * parts;
    one_counter_kernel<<<grid, kThreads, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), parts, op,
        reinterpret_cast<Best*>(partials.found.data), partials.done.data);
    gpu::check_launch("one_counter_kernel", grid, kThreads);
}

}  // namespace sixdays::day04_argmax
