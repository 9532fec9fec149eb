// Wrong on purpose: where a line begins, in bytes, held in 32 bits. From 2 GiB on that is negative, or
// some other place.
//
// case: lines that begin past 2^31 bytes
// refused: cudaErrorIllegalAddress
#include "common/gpu/launch.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

__global__ void offset_32_bit_kernel(const __grid_constant__ LineWalk<kMaxRank> walk,
                                     const float* in, std::uint32_t length, std::int64_t stride,
                                     std::int64_t* out) {
    const std::uint32_t k = blockIdx.x * 256 + threadIdx.x;
    if (k >= walk.size) return;
    const Offsets<2> at = walk.offsets(k);
    const int bytes = static_cast<int>(static_cast<unsigned>(4 * at.of[0]));
    const float* line = reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + bytes);
    float best = line[0];  // <- here
    std::int64_t where = 0;
    for (std::uint32_t i = 1; i < length; ++i) {
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
    offset_32_bit_kernel<<<grid, 256, 0, stream>>>(walk, lines.first.data,
                                                   static_cast<std::uint32_t>(lines.length()),
                                                   lines.stride(), op.index);
    gpu::check_launch("offset_32_bit_kernel", grid, 256);
}

}  // namespace sixdays::day04_argmax
