// Wrong on purpose: threadIdx.x walks down the rows, so the 32 lanes of a warp write to 32 rows, a
// row length apart. Every value is right; only the access report shows a sector for each lane.
//
// case: each warp asks once for many neighbours, and every lane works
// refused: touched->sectors == port.sectors
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/offsets.hpp"
#include "day01_flat_memory/picture.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void picture_kernel(const Julia julia, std::int64_t H, std::int64_t W,
                               std::uint8_t* out) {
    // [wrong]
    const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t x = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    // [wrong]
    if (x < W && y < H) {
        out[offset2(y, x, W)] = julia_steps(julia, x, y, W, H);
    }
}

}  // namespace

void picture_cuda(const Julia& julia, View<std::uint8_t> out, gpu::Stream stream) {
    check_picture(out);
    const std::int64_t H = out.extent(0), W = out.extent(1);
    if (H == 0 || W == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(H, 32), gpu::blocks_for(W, 8));
    picture_kernel<<<grid, block, 0, stream>>>(julia, H, W, out.data);
    gpu::check_launch("picture_kernel", grid, block);
}

}  // namespace sixdays::day01_flat_memory
