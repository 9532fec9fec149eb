// Wrong on purpose: a row of `in` is taken to be as long as it is wide. Between two rows there may
// be more: the rest of a longer row, if the matrix is a slice.
//
// case: matrices with gaps between rows and at any address
// refused: elements differ
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int TM = 32, TN = 32;  // rows and columns of a tile
constexpr int kRows = 8;         // threads: 8 rows of 32, so each takes 4 elements

__global__ void transpose_padded_kernel(const __grid_constant__ Matrices x) {
    __shared__ float shared[TM][TN + 1];  // the pad is never used
    const Tile<float> tile = tile_of_block<float>(x, TM, TN);
    const int lane = threadIdx.x;

    for (int m = threadIdx.y; m < TM; m += kRows) {
        if (m < tile.rows && lane < tile.columns) {
            shared[m][lane] = tile.in[m * x.N + lane];
        }
    }
    __syncthreads();  // what this thread writes, others have read
    for (int n = threadIdx.y; n < TN; n += kRows) {
        if (n < tile.columns && lane < tile.rows) {
            tile.out[n * x.pitch_out + lane] = shared[lane][n];
        }
    }
}

}  // namespace

void launch_transpose_padded(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, TM, TN);
    const dim3 block(32, kRows);
    transpose_padded_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("transpose_padded_kernel", grid, block);
}

}  // namespace sixdays::day03_views
