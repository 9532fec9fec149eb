// Wrong on purpose: lanes that have no element leave before the shuffles, whose mask names them all.
// A shuffle waits for every lane of its mask; on a GPU the kernel hangs or reads what nobody sent.
//
// case: lengths around every boundary, at any address
// refused: asks for the value of lane 16, which has returned or does not exist
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

__global__ void lanes_that_left_kernel(const __grid_constant__ LineWalk<kMaxRank> walk,
                                       const float* in, std::uint32_t length, std::int64_t stride,
                                       std::int64_t* out) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t k = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (k >= walk.size || lane >= length) return;
    const Offsets<2> at = walk.offsets(k);
    Best best = Pick<Largest>::none();
    for (std::uint32_t i = lane; i < length; i += 32) {
        Pick<Largest>::take(best, in[at.of[0] + i * stride], i);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        Best other;
        other.value = __shfl_xor_sync(0xffffffffu, best.value, distance);  // <- here
        other.at = __shfl_xor_sync(0xffffffffu, best.at, distance);
        best = Pick<Largest>::combine(best, other);
    }
    if (lane == 0) out[at.of[1]] = best.at;
}

}  // namespace

template <>
void launch_warp(const Lines& lines, const Layout& out, const Pick<Largest>& op,
                 gpu::Stream stream) {
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    const unsigned grid = gpu::blocks_for(walk.size, kThreads / 32);
    lanes_that_left_kernel<<<grid, kThreads, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), lines.stride(),
        op.index);
    gpu::check_launch("lanes_that_left_kernel", grid, kThreads);
}

}  // namespace sixdays::day04_argmax
