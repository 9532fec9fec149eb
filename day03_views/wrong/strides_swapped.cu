// Wrong on purpose: of the last two strides of `in`, each is multiplied by the other's index.
//
// case: rows of every width between two pitches
// refused: rows and columns swapped?
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
    std::int64_t from = offset(in_layout, index);
    // [wrong]
    if (in_layout.rank() == 2) {
        from = index[1] * in_layout.strides[0] + index[0] * in_layout.strides[1];
    }
    // [wrong]
    out[offset(out_layout, index)] = in[from];
}

template <class T>
void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(out.layout.size(), 256);
    copy_walk_kernel<<<grid, 256, 0, stream>>>(static_cast<const T*>(in.data), in.layout,
                                               out.layout, static_cast<T*>(out.data));
    gpu::check_launch("copy_walk_kernel", grid, 256);
}

}  // namespace

void launch_copy_walk(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    with_element(in.element, [&](auto e) { launch<decltype(e)>(in, out, stream); });
}

}  // namespace sixdays::day03_views
