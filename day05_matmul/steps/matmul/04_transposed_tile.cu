// Step 4: b may be a transposed view, such as a weight stored (N, K). Then b is contiguous along k,
// and step 3 reads one sector per element. Here lanes load along whichever dimension is contiguous,
// and a tile is written transposed if that is the other one (corner turning). Lanes that write a
// column of a tile would all hit one bank, a 32-way conflict; rows padded to 33 words spread the
// column over 32 banks.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/tile.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int T = 32;  // edge of a tile: of outputs, of a and of b

__global__ void matmul_transposed_tile_kernel(const __grid_constant__ Problem x) {
    __shared__ float a[T][T + 1], b[T][T + 1];  // the padding is never read
    const Tile tile = tile_of_block(x, T, T);
    const int m = threadIdx.y;
    const int n = threadIdx.x;
    const bool a_transposed = x.a_m == 1, b_transposed = x.b_k == 1;
    const int am = a_transposed ? threadIdx.x : threadIdx.y;
    const int ak = a_transposed ? threadIdx.y : threadIdx.x;
    const int bk = b_transposed ? threadIdx.x : threadIdx.y;
    const int bn = b_transposed ? threadIdx.y : threadIdx.x;
    float sum = 0;
    for (std::int64_t k0 = 0; k0 < x.K; k0 += T) {
        const bool a_inside = am < tile.rows && k0 + ak < x.K;
        const bool b_inside = k0 + bk < x.K && bn < tile.columns;
        a[am][ak] = a_inside ? tile.a[am * x.a_m + (k0 + ak) * x.a_k] : 0;
        b[bk][bn] = b_inside ? tile.b[(k0 + bk) * x.b_k + bn * x.b_n] : 0;
        __syncthreads();  // the tile is full
        for (int k = 0; k < T; ++k) {
            sum += a[m][k] * b[k][n];
        }
        __syncthreads();  // the tile may be overwritten
    }
    if (m < tile.rows && n < tile.columns) store(x, tile, m, n, sum);
}

}  // namespace

void launch_matmul_transposed_tile(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, T, T);
    const dim3 block(T, T);
    matmul_transposed_tile_kernel<<<grid, block, 0, stream>>>(x);
    gpu::check_launch("matmul_transposed_tile_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
