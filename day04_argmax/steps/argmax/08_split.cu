// Step 8: a few long lines, as when a language model chooses its next token. One block per line
// would leave most SMs idle, so several blocks share a line. Each block writes its partial result
// to the workspace and increments a counter; the last block to finish combines the parts.
#include "common/gpu/last_block.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"
#include "day04_argmax/steps/argmax/vector_line.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 128;
constexpr int kEach = 4;  // float4s in flight per thread: parts may be short

template <int RANK, class OP>
__global__ void split_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                             std::uint32_t length, std::uint32_t parts, const OP op,
                             typename OP::Partial* found, unsigned* done) {
    const std::uint32_t k = blockIdx.x / parts, part = blockIdx.x % parts;
    const std::uint32_t t = threadIdx.x;
    const Offsets<2> at = walk.offsets(k);
    const VectorLine line(in + at.of[0], length);
    const std::uint32_t each = (line.vectors + parts - 1) / parts;
    const std::uint32_t first = min(part * each, line.vectors);
    const std::uint32_t last = min(first + each, line.vectors);
    auto mine = take_vectors<OP, kThreads, kEach>(line, first, last, t);
    // [kernel]
    mine = gpu::block_reduce<kThreads>(mine, OP::combine);
    if (t == 0) found[blockIdx.x] = mine;

    if (!gpu::last_to_come(done + k, parts)) return;
    mine = OP::none();
    for (std::uint32_t p = t; p < parts; p += kThreads) {
        mine = OP::combine(mine, found[k * parts + p]);
    }
    mine = gpu::block_reduce<kThreads>(mine, OP::combine);
    if (t == 0) op.write(at.of[1], mine, line);
    // [kernel]
}

}  // namespace

template <class OP>
void launch_split(const char* name, const Lines& lines, const Layout& out, const OP& op,
                  gpu::Workspace workspace, gpu::Stream stream) {
    using Partial = typename OP::Partial;
    static_assert(sizeof(Partial) <= 8, "the workspace has 8 bytes per partial result");
    const Partials partials =
        gpu::carve(name, workspace, [&](gpu::Carver& c) { return partials_of(c, lines); });
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        const auto parts = static_cast<std::uint32_t>(partials.found.extent(1));
        const unsigned grid = walk.size * parts;
        split_kernel<<<grid, kThreads, 0, stream>>>(
            walk, in, static_cast<std::uint32_t>(lines.length()), parts, piece,
            reinterpret_cast<Partial*>(partials.found.data), partials.done.data);
        gpu::check_launch("split_kernel", grid, kThreads);
    });
}

template void launch_split(const char*, const Lines&, const Layout&, const Pick<Largest>&,
                           gpu::Workspace, gpu::Stream);
template void launch_split(const char*, const Lines&, const Layout&, const Pick<Smallest>&,
                           gpu::Workspace, gpu::Stream);
template void launch_split(const char*, const Lines&, const Layout&, const Fold<Add>&,
                           gpu::Workspace, gpu::Stream);
template void launch_split(const char*, const Lines&, const Layout&, const Fold<Multiply>&,
                           gpu::Workspace, gpu::Stream);

}  // namespace sixdays::day04_argmax
