// The naive kernel, and the launcher. The two loop variables become the two axes of the grid: x
// runs along a row, where the stride is 1, and y over the rows.
#include "day02_strides/pitched.hpp"

#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day02_strides/steps/pitched/steps.hpp"
#include "day02_strides/tiles.hpp"

namespace sixdays::day02_strides {
namespace {

// [pitched]
__global__ void pitched_kernel(const float* in, std::int64_t in_pitch, std::int64_t M,
                               std::int64_t K, float* out, std::int64_t out_pitch) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && k < K) {
        out[m * out_pitch + k] = in[m * in_pitch + k];
    }
}
// [pitched]

void pitched_one_element(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                         float* out, std::int64_t out_pitch, gpu::Stream stream) {
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(K, 32), gpu::blocks_for(M, 8));
    pitched_kernel<<<grid, block, 0, stream>>>(in, in_pitch, M, K, out, out_pitch);
    gpu::check_launch("pitched_kernel", grid, block);
}

}  // namespace

void pitched_cuda(View<const float> in, View<float> out, const gpu::Launch<PitchedPath>& how) {
    check_pitched(in, out, how.path);
    const std::int64_t M = out.extent(0), K = out.extent(1);
    if (M == 0 || K == 0) return;
    // A single row has no pitch: its stride may be any number and must not enter a computation.
    const std::int64_t in_pitch = M > 1 ? in.stride(0) : 0;
    const std::int64_t out_pitch = M > 1 ? out.stride(0) : 0;
    const gpu::Stream stream = how.stream;
    switch (how.path.value_or(choose_pitched(in, out))) {
        case PitchedPath::one_element:
            return pitched_one_element(in.data, in_pitch, M, K, out.data, out_pitch, stream);
        case PitchedPath::singles:
            return pitched_singles(in.data, in_pitch, M, K, out.data, out_pitch, stream);
        case PitchedPath::vectorized:
            return pitched_vectors(in.data, in_pitch, M, K, out.data, out_pitch, stream);
        case PitchedPath::tile:
            return gpu::by_tile("pitched", [&] {
                launch_pitched_tile(in.data, in_pitch, M, K, out.data, out_pitch, stream);
            });
    }
}

}  // namespace sixdays::day02_strides
