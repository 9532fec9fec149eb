// Wrong on purpose: a row of the tile has 32 words, so a column lies in one bank. Every value is
// right; only the access report shows that the words of a column come one after the other.
//
// case: what the steps touch: sectors and banks
// refused: touched->passes == step.passes
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 32;  // rows and columns of a tile
constexpr int kRows = 8;   // threads: 8 rows of 32, so each takes 4 elements

__global__ void transpose_padded_kernel(const float* in, std::int64_t M, std::int64_t N,
                                        std::int64_t pitch_in, std::int64_t pitch_out, float* out) {
    // [wrong]
    __shared__ float shared[kSide][kSide];
    // [wrong]
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
    __syncthreads();  // what this thread writes, others have read
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
