// Wrong on purpose: offsets in 32-bit unsigned. A stride of -1 is 4,294,967,295 there, and the sum
// does not come back below zero: it points 16 GiB past the tensor instead of 4 bytes before.
//
// case: pack, worked by hand
// refused: cudaErrorIllegalAddress
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day02_strides/pack.hpp"

namespace sixdays::day02_strides {
namespace {

__global__ void pack_kernel(const __grid_constant__ View<const float> in, std::int64_t n,
                            float* out) {
    const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (number < n) {
        const Index index = unravel(number, in.shape());
        // [wrong]
        unsigned from = 0;
        for (int d = 0; d < kMaxRank; ++d) {
            if (d < in.rank()) {
                from += static_cast<unsigned>(index[d]) * static_cast<unsigned>(in.stride(d));
            }
        }
        // [wrong]
        out[number] = in.data[from];  // <- here
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
