// Step 2: divisions precomputed on the host (walk.hpp), and independent loads: both values are
// loaded, whichever one the mask selects.
#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/steps/where/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

template <int RANK>
__global__ void where_walk_kernel(const __grid_constant__ Walk<RANK, 4> walk,
                                  const std::uint8_t* mask, const float* a, const float* b,
                                  float* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < walk.size) {
        const Offsets<4> at = walk.offsets(k);
        const float x = a[at.of[2]], y = b[at.of[3]];
        out[at.of[0]] = mask[at.of[1]] != 0 ? x : y;
    }
}

}  // namespace

void launch_where_walk(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                       View<float> out, gpu::Stream stream) {
    const auto choose = [&](auto out_piece, auto mask_piece, auto a_piece, auto b_piece) {
        const auto layouts =
            simplify(out_piece.layout, mask_piece.layout, a_piece.layout, b_piece.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 4> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads);
            where_walk_kernel<RANK><<<grid, kThreads, 0, stream>>>(
                walk, mask_piece.data, a_piece.data, b_piece.data, out_piece.data);
            gpu::check_launch("where_walk_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, choose, out, mask, a, b);
}

}  // namespace sixdays::day03_views
