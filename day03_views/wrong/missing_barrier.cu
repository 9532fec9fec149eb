// Wrong on purpose: nobody waits until the tile is full. A thread may write on what another one has
// not read yet.
//
// case: every step of the ladder equals the loop around its tile
// refused: No __syncthreads() stands between, so which comes first is chance
// sanitizer: racecheck
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 32;  // rows and columns of a tile
constexpr int kRows = 8;   // threads: 8 rows of 32, so each takes 4 elements

__global__ void transpose_padded_kernel(const float* in, std::int64_t M, std::int64_t N,
                                        std::int64_t pitch_in, std::int64_t pitch_out, float* out) {
    __shared__ float shared[kSide][kSide + 1];  // the pad is never used
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
    for (int i = threadIdx.y; i < kSide; i += kRows) {
        const std::int64_t m = m0 + lane, n = n0 + i;
        if (m < M && n < N) {
            out[n * pitch_out + m] = shared[lane][i];  // <- here
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
