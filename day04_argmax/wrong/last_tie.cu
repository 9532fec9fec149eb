// Wrong on purpose: an element that equals the best one takes its place. So the last of equal
// elements is named, where NumPy, PyTorch and the loop name the first.
//
// case: ties, NaN, infinities and zeros are settled as NumPy settles them
// refused: name(path) := "walk"
// refused: elements differ
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

__global__ void last_tie_kernel(const __grid_constant__ LineWalk<kMaxRank> walk, const float* in,
                                std::uint32_t length, std::int64_t stride, std::int64_t* out) {
    const std::uint32_t k = blockIdx.x * 256 + threadIdx.x;
    if (k >= walk.size) return;
    const Offsets<2> at = walk.offsets(k);
    const float* line = in + at.of[0];
    float best = line[0];
    std::int64_t where = 0;
    for (std::uint32_t i = 1; i < length; ++i) {
        const float x = line[i * stride];
        if (!(x < best) && best == best) {  // x >= best
            best = x;
            where = i;
        }
    }
    out[at.of[1]] = where;
}

}  // namespace

template <>
void launch_walk(const Lines& lines, const Layout& out, const Pick<Largest>& op,
                 gpu::Stream stream) {
    const LineWalk<kMaxRank> walk(simplify(lines.first.layout, out));
    const unsigned grid = gpu::blocks_for(walk.size, 256);
    last_tie_kernel<<<grid, 256, 0, stream>>>(walk, lines.first.data,
                                              static_cast<std::uint32_t>(lines.length()),
                                              lines.stride(), op.index);
    gpu::check_launch("last_tie_kernel", grid, 256);
}

}  // namespace sixdays::day04_argmax
