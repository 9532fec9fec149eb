// Wrong on purpose: "the last stride is 1, so it is contiguous". It is not if a dim before has a
// pitch or a flip; all must fit together. simplify() knows, and is_contiguous().
//
// case: a cache with room for more is walked with the strides of its capacity
// case: pack, worked by hand
// refused: one past its end
// refused: The first is (0, 1, 0, 0), at offset 20: expected 32, got 20.
#include "common/gpu/launch.hpp"
#include "day02_strides/pack.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void copy_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];
    }
}

}  // namespace

void pack_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_pack(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    // [wrong]
    if (in.rank() == 0 || in.stride(in.rank() - 1) != 1) {
        return pack_cuda(PackPath::any_size, in, out, stream);
    }
    // [wrong]
    const unsigned grid = gpu::blocks_for(n, 256);
    copy_kernel<<<grid, 256, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("copy_kernel", grid, 256);
}

}  // namespace sixdays::day02_strides
