// Step 6: the reduced dimension is not the last one. The elements of a line are far apart, but
// adjacent lines are adjacent in memory. So the lanes go across lines, and each load is coalesced.
// The warps of a block share its lines: each reads every eighth element, with several loads in
// flight, and at the end they combine.
#include "common/gpu/launch.hpp"
#include "common/tensor/vectorized.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kWarps = 8;
constexpr int kEach = 4;  // loads of each line that a lane has in flight

/// What a lane reads of a row of adjacent lines: WIDE elements, as one float4
/// or 32 apart. Columns outside the tensor are neutral.
template <int WIDE, bool VECTORS>
__device__ void load(const float* row, std::uint32_t columns, float neutral, float (&x)[WIDE]) {
    const std::uint32_t lane = threadIdx.x % 32;
    if constexpr (VECTORS) {
        float4 vector = make_float4(neutral, neutral, neutral, neutral);
        if (4 * lane < columns) vector = reinterpret_cast<const float4*>(row)[lane];
        x[0] = vector.x, x[1] = vector.y, x[2] = vector.z, x[3] = vector.w;
    } else {
        for (int w = 0; w < WIDE; ++w) {
            x[w] = 32 * w + lane < columns ? row[32 * w + lane] : neutral;
        }
    }
}

/// outer: where each run of `width` adjacent lines begins. It is cut into
/// `tiles` of 32 * WIDE lines, one per block.
template <int WIDE, bool VECTORS, int RANK, class OP>
__global__ void strided_kernel(const __grid_constant__ LineWalk<RANK> outer, const float* in,
                               std::uint32_t width, std::uint32_t tiles, std::int64_t out_stride,
                               std::uint32_t length, std::int64_t stride, const OP op) {
    constexpr std::uint32_t kTile = 32 * WIDE;
    __shared__ typename OP::Partial found[kWarps][kTile];
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Offsets<2> at = outer.offsets(blockIdx.x / tiles);
    const std::uint32_t first = blockIdx.x % tiles * kTile;
    const std::uint32_t columns = min(width - first, kTile);
    const float* line = in + at.of[0] + first;

    // [kernel]
    typename OP::Partial mine[WIDE];
    for (auto& partial : mine) partial = OP::none();
    for (std::uint32_t i = warp; i < length; i += kWarps * kEach) {
        float x[kEach][WIDE];
        for (int j = 0; j < kEach; ++j) {
            const std::uint32_t row = i + j * kWarps;
            load<WIDE, VECTORS>(line + row * stride, row < length ? columns : 0, OP::neutral(),
                                x[j]);
        }
        for (int j = 0; j < kEach; ++j) {
            for (int w = 0; w < WIDE; ++w) OP::take(mine[w], x[j][w], i + j * kWarps);
        }
    }
    for (int w = 0; w < WIDE; ++w) found[warp][VECTORS ? 4 * lane + w : 32 * w + lane] = mine[w];
    __syncthreads();
    // [kernel]

    const std::uint32_t t = threadIdx.x;
    if (t >= columns) return;
    auto all = found[0][t];
    for (int w = 1; w < kWarps; ++w) all = OP::combine(all, found[w][t]);
    op.write(at.of[1] + (first + t) * out_stride, all);
}

template <int WIDE, bool VECTORS, class OP>
void launch(const Lines& lines, std::array<Layout, 2> layouts, const float* in, const OP& op,
            gpu::Stream stream) {
    const int last = layouts[0].rank() - 1;  // lines are adjacent along it
    const auto width = static_cast<std::uint32_t>(layouts[0].extent(last));
    const std::int64_t out_stride = layouts[1].stride(last);
    for (Layout& layout : layouts) layout = select(layout, last, 0).layout;
    const std::uint32_t tiles = (width - 1) / (32 * WIDE) + 1;
    const LineWalk<kMaxRank> outer(layouts);
    const unsigned grid = outer.size * tiles;
    strided_kernel<WIDE, VECTORS><<<grid, 32 * kWarps, 0, stream>>>(
        outer, in, width, tiles, out_stride, static_cast<std::uint32_t>(lines.length()),
        lines.stride(), op);
    gpu::check_launch("strided_kernel", grid, 32 * kWarps);
}

}  // namespace

template <class OP>
void launch_strided(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    const auto piece = [&](const View<const float>& first, const Cut& to) {
        const auto layouts = simplify(first.layout, to.layout);
        const std::int64_t width = layouts[0].extent(layouts[0].rank() - 1);
        const OP here = op.moved(to.first);
        const bool vectors = lines.stride() % 4 == 0 && has_wider(first.data, layouts[0], 4);
        if (vectors && width >= 128)
            return launch<4, true>(lines, layouts, first.data, here, stream);
        if (width >= 128) return launch<4, false>(lines, layouts, first.data, here, stream);
        launch<1, false>(lines, layouts, first.data, here, stream);
    };
    in_pieces(kWalkable, piece, lines.first, Cut{out});
}

template void launch_strided(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_strided(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_strided(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_strided(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
