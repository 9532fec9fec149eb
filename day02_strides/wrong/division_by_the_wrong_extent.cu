// Wrong on purpose: each dim is divided by the extent of the dim before it. Right only where all
// extents are the same, as in the one cube that was tried.
//
// case: pack, worked by hand
// refused: expected 3, got 4. 4 is the expected value of (1, 0): the element after it?
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day02_strides/pack.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void pack_kernel(const __grid_constant__ View<const float> in, std::int64_t n,
                            float* out) {
    const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (number < n) {
        Index index;
        std::int64_t rest = number;
        for (int d = kMaxRank - 1; d >= 0; --d) {
            if (d < in.rank()) {
                // [wrong]
                const std::int64_t extent = in.extent(d > 0 ? d - 1 : 0);
                index[d] = rest % extent;
                rest /= extent;
                // [wrong]
            }
        }
        out[number] = in.data[offset(in.layout, index)];
    }
}

}  // namespace

void pack_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_pack(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, 256);
    pack_kernel<<<grid, 256, 0, stream>>>(in, n, out.data);
    gpu::check_launch("pack_kernel", grid, 256);
}

}  // namespace sixdays::day02_strides
