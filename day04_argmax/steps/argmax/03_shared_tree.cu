// Step 3: a block for each output. Its threads walk the line together, each with a part, and leave
// what they have found in shared memory; then half of them combine two each, then a quarter, until
// one is left.
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

// [kernel]
template <int RANK, class OP>
__global__ void shared_tree_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                                   std::uint32_t length, std::int64_t stride, const OP op) {
    __shared__ typename OP::Partial found[kThreads];
    const std::uint32_t t = threadIdx.x;
    const Offsets<2> at = walk.offsets(blockIdx.x);
    const float* line = in + at.of[0];
    auto mine = OP::none();
    for (std::uint32_t i = t; i < length; i += kThreads) {
        OP::take(mine, line[i * stride], i);
    }
    found[t] = mine;
    __syncthreads();  // all have written
    for (std::uint32_t half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) found[t] = OP::combine(found[t], found[t + half]);
        __syncthreads();  // this level of the tree is done
    }
    if (t == 0) op.write(at.of[1], found[0]);
}
// [kernel]

}  // namespace

template <class OP>
void launch_shared_tree(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        shared_tree_kernel<<<walk.size, kThreads, 0, stream>>>(
            walk, in, static_cast<std::uint32_t>(lines.length()), lines.stride(), piece);
        gpu::check_launch("shared_tree_kernel", walk.size, kThreads);
    });
}

template void launch_shared_tree(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_shared_tree(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_shared_tree(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_shared_tree(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
