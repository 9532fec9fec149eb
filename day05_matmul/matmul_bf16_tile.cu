// A matrix product of 16-bit elements as a tile kernel: that of matmul_tiles.hpp. The element type
// alone selects the tensor cores.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/gpu/tile.hpp"
#include "common/tensor/half.hpp"
#include "day05_matmul/matmul_tiles.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

// 128 x 256 sums exceed the registers of four warps: eight hold them.
using Wide = Blocks<128, 256, 64, 8, true>;
using Square = Blocks<128, 128, 64, 4>;

template <>
void launch_matmul_bf16_tile(View<const bf16> a, View<const bf16> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream) {
    launch_tiles<Wide, Square, __nv_bfloat16>(a, b, epilogue, out, stream);
}
template <>
void launch_matmul_bf16_tile(View<const f16> a, View<const f16> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream) {
    launch_tiles<Wide, Square, __half>(a, b, epilogue, out, stream);
}

}  // namespace sixdays::day05_matmul
