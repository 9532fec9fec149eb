// Step 2: swap m and n: threadIdx.x runs along a row of `out`. Now a warp writes 128 contiguous
// bytes and reads 32 elements that are a row of `in` apart.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"

namespace sixdays::day03_views {
namespace {

__global__ void transpose_write_coalesced_kernel(  // in (M, N), out (N, M)
    const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    float* out) {
    const std::int64_t m = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t n = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        out[n * pitch_out + m] = in[m * pitch_in + n];
    }
}

}  // namespace

void launch_transpose_write_coalesced(const float* in, std::int64_t M, std::int64_t N,
                                      std::int64_t pitch_in, std::int64_t pitch_out, float* out,
                                      gpu::Stream stream) {
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(M, 32), gpu::blocks_for(N, 8));
    transpose_write_coalesced_kernel<<<grid, block, 0, stream>>>(in, M, N, pitch_in, pitch_out,
                                                                 out);
    gpu::check_launch("transpose_write_coalesced_kernel", grid, block);
}

}  // namespace sixdays::day03_views
