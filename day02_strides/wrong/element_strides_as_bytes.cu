// Wrong on purpose: the strides count elements, but are added to an address in bytes. Element 1 is
// looked for one byte after element 0.
//
// case: pack, worked by hand
// refused: cudaErrorMisalignedAddress
// refused: an address that is not a multiple of 4
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
        const char* bytes = reinterpret_cast<const char*>(in.data);
        const char* from = bytes + offset(in.layout, index);
        out[number] = *reinterpret_cast<const float*>(from);
        // [wrong]
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
