// Step 3: the 32 x 32 outputs of a block need the same elements again and again. So the block
// fetches a 32 x 32 tile of a and one of b into shared memory, and 32 threads read each element
// there: the reuse equals the edge of the tile. Two barriers: no thread multiplies before the tile
// is full, and no thread overwrites it before all have multiplied.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int T = 32;  // edge of a tile: of outputs, of a and of b

// [kernel]
__global__ void matmul_shared_tile_kernel(const __grid_constant__ Problem x) {
    __shared__ float a[T][T], b[T][T];
    const Tile tile = tile_of_block(x, T, T);
    const int m = threadIdx.y;
    const int n = threadIdx.x;
    float sum = 0;
    for (std::int64_t k0 = 0; k0 < x.K; k0 += T) {
        // Elements outside count as 0. Threads without an output still reach
        // the barriers.
        const std::int64_t ak = k0 + threadIdx.x, bk = k0 + threadIdx.y;
        const bool a_inside = m < tile.rows && ak < x.K;
        const bool b_inside = bk < x.K && n < tile.columns;
        a[m][threadIdx.x] = a_inside ? tile.a[m * x.a_m + ak * x.a_k] : 0;
        b[threadIdx.y][n] = b_inside ? tile.b[bk * x.b_k + n * x.b_n] : 0;
        __syncthreads();  // the tile is full
        for (int k = 0; k < T; ++k) {
            sum += a[m][k] * b[k][n];
        }
        __syncthreads();  // the tile may be overwritten
    }
    // Only threads with an output store.
    if (m < tile.rows && n < tile.columns) store(x, tile, m, n, sum);
}
// [kernel]

}  // namespace

void launch_matmul_shared_tile(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, T, T);
    const dim3 block(T, T);
    matmul_shared_tile_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("matmul_shared_tile_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
