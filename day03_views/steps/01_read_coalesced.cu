// Step 1: one thread, one element. threadIdx.x walks along a row of `in`, so a warp reads 128 bytes
// in one run. It writes 32 elements that lie a whole row of `out` apart: a 32-byte sector for each.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/steps/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int TM = 8, TN = 32;  // a block: 8 rows of 32 columns

// [transpose]
__global__ void transpose_read_coalesced_kernel(const __grid_constant__ Matrices x) {
    const Tile<float> tile = tile_of_block<float>(x, TM, TN);
    const int n = threadIdx.x;
    const int m = threadIdx.y;
    if (m < tile.rows && n < tile.columns) {
        tile.out[n * x.pitch_out + m] = tile.in[m * x.pitch_in + n];
    }
}
// [transpose]

}  // namespace

void transpose_read_coalesced(View<const float> in, View<float> out, gpu::Stream stream) {
    check_transpose(bytes_in(in), bytes_out(out));
    if (out.size() == 0) return;
    Matrices x = matrices_to_transpose(bytes_in(in), bytes_out(out));
    const unsigned grid = cut_into_tiles(x, TM, TN);
    const dim3 block(TN, TM);
    transpose_read_coalesced_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("transpose_read_coalesced_kernel", grid, block);
}

}  // namespace sixdays::day03_views
