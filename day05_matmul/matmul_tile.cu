// A matrix product of floats in tiles: matmul_tiles.hpp has the kernel. A block's 128 x 128 sums
// stay in registers, as those of step 6 do; who holds which, and what lies in shared memory, is not
// said.
#include "common/gpu/tile.hpp"
#include "day05_matmul/matmul_tiles.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

void launch_matmul_tile(View<const float> a, View<const float> b, const Epilogue& epilogue,
                        View<float> out, gpu::Stream stream) {
    using Large = Blocks<128, 128, 8, 8>;  // of those that were tried on an H200 the fastest
    using Small = Blocks<64, 64, 16, 4>;
    for_each_matrix(a, b, epilogue, out,
                    [stream](auto... one) { launch_tiles<Large, Small, float>(one..., stream); });
}

}  // namespace sixdays::day05_matmul
