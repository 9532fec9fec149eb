// Step 4: a row of the tile has 33 words. One row down is now the next bank, so the 32 words of a
// column are in 32 different banks, and so are those of a row.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 32;  // rows and columns of a tile
constexpr int kRows = 8;   // rows of threads: 8 x 32 threads, 4 elements each

__global__ void transpose_padded_kernel(  // in (M, N), out (N, M)
    const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    float* out) {
    __shared__ float shared[kSide][kSide + 1];  // the padding is never accessed
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

}  // namespace

void launch_transpose_padded(const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in,
                             std::int64_t pitch_out, float* out, gpu::Stream stream) {
    const dim3 block(32, kRows);
    const dim3 grid(gpu::blocks_for(M, kSide), gpu::blocks_for(N, kSide));
    transpose_padded_kernel<<<grid, block, 0, stream>>>(in, M, N, pitch_in, pitch_out, out);
    gpu::check_launch("transpose_padded_kernel", grid, block);
}

}  // namespace sixdays::day03_views
