// Wrong on purpose: where both halves of the tree hold the same value, the upper half wins. It came
// from another thread, not from further back: thread t has elements t, t + 256, ...
//
// case: an equal element further on, in every lane and warp, changes nothing
// refused: name(path) := "shared tree"
// refused: All 2 elements differ. The first is (0), at offset 0: expected 0, got 1.
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

__global__ void upper_half_kernel(const __grid_constant__ LineWalk<kMaxRank> walk, const float* in,
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
        const bool lower = t < half && beats(found[t].value, found[t + half].value);
        if (t < half && !lower) found[t] = found[t + half];
        __syncthreads();
    }
    if (t == 0) out[at.of[1]] = found[0].at;
}

}  // namespace

template <>
void launch_shared_tree(const Lines& lines, const Layout& out, const Pick<Largest>& op,
                        gpu::Stream stream) {
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    upper_half_kernel<<<walk.size, kThreads, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), lines.stride(),
        op.index);
    gpu::check_launch("upper_half_kernel", walk.size, kThreads);
}

}  // namespace sixdays::day04_argmax
