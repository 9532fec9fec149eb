// Wrong on purpose: threadIdx.x walks down the rows, so the 32 lanes of a warp are a pitch apart.
// Every value is right; only the access report shows a sector for each lane.
//
// case: pitched: each warp asks once for many neighbours
// refused: each warp asks once for many neighbours
// refused: touched->sectors == sectors
#include "common/gpu/launch.hpp"
#include "day02_strides/pitched.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void pitched_kernel(const float* in, std::int64_t in_pitch, std::int64_t M,
                               std::int64_t K, float* out, std::int64_t out_pitch) {
    // [wrong]
    const std::int64_t k = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t m = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // [wrong]
    if (m < M && k < K) {
        out[m * out_pitch + k] = in[m * in_pitch + k];
    }
}

}  // namespace

void pitched_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_pitched(in, out);
    const std::int64_t M = out.extent(0), K = out.extent(1);
    if (M == 0 || K == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(M, 32), gpu::blocks_for(K, 8));
    pitched_kernel<<<grid, block, 0, stream>>>(in.data, in.stride(0), M, K, out.data,
                                               out.stride(0));
    gpu::check_launch("pitched_kernel", grid, block);
}

}  // namespace sixdays::day02_strides
