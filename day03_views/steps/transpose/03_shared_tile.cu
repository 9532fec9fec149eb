// Step 3: a detour through shared memory, which belongs to the block and has no sectors. The block
// reads a 32 x 32 tile along the rows of `in`, waits until all of it is there, and writes it along
// the rows of `out`. What is a run in memory is then a column of the tile; that costs too: shared
// memory has 32 banks, word w lies in bank w mod 32, and a column's words, 32 apart, are all in
// one.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int TM = 32, TN = 32;  // rows and columns of a tile
constexpr int kRows = 8;         // threads: 8 rows of 32, so each takes 4 elements

// [kernel]
__global__ void transpose_shared_tile_kernel(const __grid_constant__ Matrices x) {
    __shared__ float shared[TM][TN];
    const Tile<float> tile = tile_of_block<float>(x, TM, TN);
    const int lane = threadIdx.x;

    for (int m = threadIdx.y; m < TM; m += kRows) {
        if (m < tile.rows && lane < tile.columns) {
            shared[m][lane] = tile.in[m * x.pitch_in + lane];
        }
    }
    __syncthreads();  // what this thread writes, others have read
    for (int n = threadIdx.y; n < TN; n += kRows) {
        if (n < tile.columns && lane < tile.rows) {
            tile.out[n * x.pitch_out + lane] = shared[lane][n];
        }
    }
}
// [kernel]

}  // namespace

void launch_transpose_shared_tile(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, TM, TN);
    const dim3 block(32, kRows);
    transpose_shared_tile_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("transpose_shared_tile_kernel", grid, block);
}

}  // namespace sixdays::day03_views
