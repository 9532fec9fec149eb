// Wrong on purpose: the same number of elements, so they are copied as one run. That is what a
// reshape of a transposed view would be if it were a view: the strides are forgotten.
//
// case: contiguous copies only if it must
// refused: elements differ
#include "common/gpu/launch.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::day03_views {
namespace {

__global__ void copy_as_one_run_kernel(const std::uint8_t* in, std::int64_t bytes,
                                       std::uint8_t* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // [wrong]
    if (i < bytes) out[i] = in[i];
    // [wrong]
}

}  // namespace

void copy_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                       const gpu::Launch<CopyPath>& how) {
    check_copy(in, out);
    const std::int64_t bytes = out.layout.size() * out.element;
    if (bytes == 0 || in.data == out.data) return;
    const unsigned grid = gpu::blocks_for(bytes, 256);
    copy_as_one_run_kernel<<<grid, 256, 0, how.stream>>>(
        static_cast<const std::uint8_t*>(in.data), bytes, static_cast<std::uint8_t*>(out.data));
    gpu::check_launch("copy_as_one_run_kernel", grid, 256);
}

}  // namespace sixdays::day03_views
