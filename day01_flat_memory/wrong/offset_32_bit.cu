// Wrong on purpose: row * length + column in 32-bit int. From 2^31 elements on it overflows, which
// C++ leaves undefined; the emulator's build of a kernel watches for that.
//
// case: the picture reaches past 2^31 pixels
// refused: does not fit into 'int'
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/picture.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void picture_kernel(const Julia julia, int H, int W, std::uint8_t* out) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < W && y < H) {
        const int offset = y * W + x;  // <- here
        out[offset] = julia_steps(julia, x, y, W, H);
    }
}

}  // namespace

void picture_cuda(const Julia& julia, View<std::uint8_t> out, gpu::Stream stream) {
    check_picture(out);
    const std::int64_t H = out.extent(0), W = out.extent(1);
    if (H == 0 || W == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(W, 32), gpu::blocks_for(H, 8));
    picture_kernel<<<grid, block, 0, stream>>>(julia, static_cast<int>(H), static_cast<int>(W),
                                               out.data);
    gpu::check_launch("picture_kernel", grid, block);
}

}  // namespace sixdays::day01_flat_memory
