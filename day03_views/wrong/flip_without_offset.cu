// Wrong on purpose: takes the lowest address of a flipped view for its beginning. Index 0 of a
// flipped dim lies at the highest one; the strides then lead out of the memory.
//
// case: small shapes in every order, flipped or not, with gaps or not
// refused: cudaErrorIllegalAddress
// refused: before the start of an allocation
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day03_views/steps/copy/steps.hpp"

namespace sixdays::day03_views {
namespace {

template <class T>
__global__ void copy_walk_kernel(const T* in, const __grid_constant__ Layout in_layout,
                                 const __grid_constant__ Layout out_layout, T* out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= out_layout.size()) return;
    const Index index = unravel(k, out_layout.shape);
    out[offset(out_layout, index)] = in[offset(in_layout, index)];  // <- here
}

template <class T>
void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(out.layout.size(), 256);
    // [wrong]
    const T* data = static_cast<const T*>(in.data) + reach(in.layout).lowest;
    // [wrong]
    copy_walk_kernel<<<grid, 256, 0, stream>>>(data, in.layout, out.layout,
                                               static_cast<T*>(out.data));
    gpu::check_launch("copy_walk_kernel", grid, 256);
}

}  // namespace

void launch_copy_walk(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    with_element(in.element, [&](auto e) { launch<decltype(e)>(in, out, stream); });
}

}  // namespace sixdays::day03_views
