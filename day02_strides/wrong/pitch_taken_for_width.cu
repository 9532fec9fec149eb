// Wrong on purpose: row m is looked for at m * K. Right as long as every matrix is contiguous; with
// a pitch it reads the room after the row above.
//
// case: pitched, worked by hand
// refused: The first is (1, 0), at offset 4: expected 4, got 0.
#include "common/gpu/launch.hpp"
#include "day02_strides/pitched.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void pitched_kernel(const float* in, std::int64_t, std::int64_t M, std::int64_t K,
                               float* out, std::int64_t out_pitch) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && k < K) {
        // [wrong]
        out[m * out_pitch + k] = in[m * K + k];
        // [wrong]
    }
}

}  // namespace

void pitched_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_pitched(in, out);
    const std::int64_t M = out.extent(0), K = out.extent(1);
    if (M == 0 || K == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(K, 32), gpu::blocks_for(M, 8));
    pitched_kernel<<<grid, block, 0, stream>>>(in.data, in.stride(0), M, K, out.data,
                                               out.stride(0));
    gpu::check_launch("pitched_kernel", grid, block);
}

}  // namespace sixdays::day02_strides
