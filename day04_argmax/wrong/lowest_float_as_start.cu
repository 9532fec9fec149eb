// Wrong on purpose: the search starts with the lowest float there is. But minus infinity is lower, and
// the lowest float itself is not above it: of (-inf, -inf, -inf, -inf, lowest) nothing is found, and
// index 0 is kept.
//
// case: only a higher float beats minus infinity, else it is index 0
// refused: name(path) := "walk"
// refused: differ
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

__global__ void lowest_float_kernel(const __grid_constant__ LineWalk<kMaxRank> walk,
                                    const float* in, std::uint32_t length, std::int64_t stride,
                                    std::int64_t* out) {
    const std::uint32_t k = blockIdx.x * 256 + threadIdx.x;
    if (k >= walk.size) return;
    const Offsets<2> at = walk.offsets(k);
    const float* line = in + at.of[0];
    float best = -3.402823466e+38f;
    std::int64_t where = 0;
    for (std::uint32_t i = 0; i < length; ++i) {
        const float x = line[i * stride];
        if (beats(x, best)) {
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
    lowest_float_kernel<<<grid, 256, 0, stream>>>(walk, lines.first.data,
                                                  static_cast<std::uint32_t>(lines.length()),
                                                  lines.stride(), op.index);
    gpu::check_launch("lowest_float_kernel", grid, 256);
}

}  // namespace sixdays::day04_argmax
