// Step 15 (split-K), outside the ladder: few outputs and a long K, fewer blocks than SMs. Then
// several blocks share the K of one tile. That needs no new product: K cut into parts is one more
// dimension of the stack, a view. Each part is a separate product, left in a workspace. A second
// kernel adds the parts, always in the same order, and applies the epilogue.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 8, BN = 32;  // a block's outputs: 8 rows of 32, one warp per row

/// @param parts  of every output: the elements of x.out, row-major, one stack after another
__global__ void matmul_add_parts_kernel(const __grid_constant__ Problem x, const float* parts,
                                        int count, std::int64_t apart) {
    const Tile tile = tile_of_block(x, BM, BN);
    const int m = threadIdx.y, n = threadIdx.x;
    if (m >= tile.rows || n >= tile.columns) return;
    const std::int64_t matrix = blockIdx.x / (x.down * x.across);
    const float* from = parts + (matrix * x.M + tile.m0 + m) * x.N + tile.n0 + n;
    float sum = 0;
    for (int part = 0; part < count; ++part) sum += from[part * apart];
    store(x, tile, m, n, sum);
}

}  // namespace

void launch_matmul_split_k(Problem x, float* parts, gpu::Stream stream) {
    const int count = parts_of(x);
    const Problem y = in_parts(x, count, parts);
    if (has_whole_tiles(y)) {
        launch_matmul_whole_tiles(cut_for(y), y, stream);
    } else {
        launch_matmul_skinny(y, stream);
    }
    const unsigned grid = cut_into_tiles(x, BM, BN);
    const dim3 block(BN, BM);
    matmul_add_parts_kernel<<<grid, block, 0, stream>>>(x, parts, count, stacked(x) * x.M * x.N);
    gpu::check_launch("matmul_add_parts_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
