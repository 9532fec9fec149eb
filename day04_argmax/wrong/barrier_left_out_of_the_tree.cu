// Wrong on purpose: no barrier between two levels of the tree. A warp that is ahead combines what
// another one has not written yet.
//
// case: lengths around every boundary, at any address
// refused: no __syncwarp() or __syncthreads() stands between: which comes first is chance
// sanitizer: racecheck
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

__global__ void no_barrier_kernel(const __grid_constant__ LineWalk<kMaxRank> walk, const float* in,
                                  std::uint32_t length, std::int64_t stride, std::int64_t* out) {
    __shared__ Best found[kThreads];
    const std::uint32_t t = threadIdx.x;
    const Offsets<2> at = walk.offsets(blockIdx.x);
    Best mine = Pick<Largest>::none();
    for (std::uint32_t i = t; i < length; i += kThreads) {
        Pick<Largest>::take(mine, in[at.of[0] + i * stride], i);
    }
    found[t] = mine;
    __syncthreads();
    for (std::uint32_t half = kThreads / 2; half > 0; half /= 2) {
        if (t >= half) continue;
        const Best upper = found[t + half];  // <- here
        found[t] = Pick<Largest>::combine(found[t], upper);
    }
    if (t == 0) out[at.of[1]] = found[0].at;
}

}  // namespace

template <>
void launch_shared_tree(const Lines& lines, const Layout& out, const Pick<Largest>& op,
                        gpu::Stream stream) {
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    no_barrier_kernel<<<walk.size, kThreads, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), lines.stride(),
        op.index);
    gpu::check_launch("no_barrier_kernel", walk.size, kThreads);
}

}  // namespace sixdays::day04_argmax
