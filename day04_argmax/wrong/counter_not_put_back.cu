// Wrong on purpose: the counter of the blocks that are done is never put back to 0. The first launch is
// right; in the second no block is the last one, and nobody writes the answer.
//
// case: a workspace has room for every part, and no more
// refused: Never written
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/quad_line.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

using Op = Pick<Largest>;
constexpr int kThreads = 256;

__device__ bool last_to_come(unsigned* done, unsigned blocks) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1u) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

__global__ void counter_kernel(const __grid_constant__ LineWalk<kMaxRank> walk, const float* in,
                               std::uint32_t length, std::uint32_t parts, const Op op, Best* found,
                               unsigned* done) {
    const std::uint32_t k = blockIdx.x / parts, part = blockIdx.x % parts;
    const Offsets<2> at = walk.offsets(k);
    const QuadLine line(in + at.of[0], length);
    const std::uint32_t each = (line.quads + parts - 1) / parts;
    const std::uint32_t first = min(part * each, line.quads);
    const std::uint32_t last = min(first + each, line.quads);
    Best mine = take_quads<Op, kThreads, 4>(line, first, last, threadIdx.x);
    mine = gpu::block_reduce<kThreads>(mine, Op::combine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;
    if (!last_to_come(done + k, parts)) return;
    mine = Op::none();
    for (std::uint32_t p = threadIdx.x; p < parts; p += kThreads) {
        mine = Op::combine(mine, found[k * parts + p]);
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
    counter_kernel<<<grid, kThreads, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), parts, op,
        reinterpret_cast<Best*>(partials.found.data), partials.done.data);
    gpu::check_launch("counter_kernel", grid, kThreads);
}

}  // namespace sixdays::day04_argmax
