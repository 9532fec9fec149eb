// Step 3: go through shared memory, which belongs to the block and has no sectors. The block reads
// a 32 x 32 tile along the rows of `in`, waits until all of it is loaded, and writes it along the
// rows of `out`. A row of `out` is a column of the tile, and reading that has a cost: shared memory
// has 32 banks, word w is in bank w mod 32, and the words of a column, 32 apart, are all in the
// same bank: a 32-way bank conflict.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 32;  // rows and columns of a tile
constexpr int kRows = 8;   // rows of threads: 8 x 32 threads, 4 elements each

// [kernel]
__global__ void transpose_shared_tile_kernel(  // in (M, N), out (N, M)
    const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    float* out) {
    __shared__ float shared[kSide][kSide];
    // This tile's first row and first column.
    const std::int64_t m0 = std::int64_t{blockIdx.x} * kSide;
    const std::int64_t n0 = std::int64_t{blockIdx.y} * kSide;
    const int lane = threadIdx.x;

    for (int i = threadIdx.y; i < kSide; i += kRows) {
        const std::int64_t m = m0 + i, n = n0 + lane;
        if (m < M && n < N) {
            shared[i][lane] = in[m * pitch_in + n];
        }
    }
    __syncthreads();  // wait until the whole tile is loaded
    for (int i = threadIdx.y; i < kSide; i += kRows) {
        const std::int64_t m = m0 + lane, n = n0 + i;
        if (m < M && n < N) {
            out[n * pitch_out + m] = shared[lane][i];
        }
    }
}
// [kernel]

}  // namespace

void launch_transpose_shared_tile(const float* in, std::int64_t M, std::int64_t N,
                                  std::int64_t pitch_in, std::int64_t pitch_out, float* out,
                                  gpu::Stream stream) {
    const dim3 block(32, kRows);
    const dim3 grid(gpu::blocks_for(M, kSide), gpu::blocks_for(N, kSide));
    transpose_shared_tile_kernel<<<grid, block, 0, stream>>>(in, M, N, pitch_in, pitch_out, out);
    gpu::check_launch("transpose_shared_tile_kernel", grid, block);
}

}  // namespace sixdays::day03_views
