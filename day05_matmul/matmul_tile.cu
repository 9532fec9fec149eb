// A matrix product of floats as a tile kernel: that of matmul_tiles.hpp. The 128 x 128 sums of a
// block stay in registers, as in step 6; the compiler decides which thread holds which and what is
// in shared memory.
#include "common/gpu/tile.hpp"
#include "day05_matmul/matmul_tiles.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

void launch_matmul_tile(View<const float> a, View<const float> b, const Epilogue& epilogue,
                        View<float> out, gpu::Stream stream) {
    using Large = Blocks<128, 128, 8, 8>;  // the fastest of those tried on an H200
    using Small = Blocks<64, 64, 16, 4>;
    for_each_matrix(a, b, epilogue, out,
                    [stream](auto... one) { launch_tiles<Large, Small, float>(one..., stream); });
}

}  // namespace sixdays::day05_matmul
