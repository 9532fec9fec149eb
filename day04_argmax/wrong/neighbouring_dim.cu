// Wrong on purpose: the reduced dim is off by one. The lines begin where they should, and are as long
// as they should be, but they are walked with the stride of the dim behind. In a cube with equal
// extents every access is a legal one.
//
// case: every order and direction of dims, of in and of out
// refused: name(path) := "strided"
// refused: differ
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

__global__ void neighbouring_dim_kernel(const __grid_constant__ LineWalk<kMaxRank> walk,
                                        const float* in, std::uint32_t length, std::int64_t* out) {
    const std::uint32_t k = blockIdx.x * 256 + threadIdx.x;
    if (k >= walk.size) return;
    const Offsets<2> at = walk.offsets(k);
    const float* line = in + at.of[0];
    Best best = Pick<Largest>::none();
    for (std::uint32_t i = 0; i < length; ++i) {
        Pick<Largest>::take(best, line[i], i);  // the stride of the dim that is walked last: 1
    }
    out[at.of[1]] = best.at;
}

}  // namespace

template <>
void launch_strided(const Lines& lines, const Layout& out, const Pick<Largest>& op,
                    gpu::Stream stream) {
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    const unsigned grid = gpu::blocks_for(walk.size, 256);
    neighbouring_dim_kernel<<<grid, 256, 0, stream>>>(
        walk, lines.first.data, static_cast<std::uint32_t>(lines.length()), op.index);
    gpu::check_launch("neighbouring_dim_kernel", grid, 256);
}

}  // namespace sixdays::day04_argmax
