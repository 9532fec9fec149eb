// Wrong on purpose: of the last two strides of `in`, each is multiplied by the other's index.
//
// case: rows of every width between two pitches
// refused: rows and columns swapped?
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day03_views/moves.hpp"

namespace sixdays::day03_views {
namespace {

template <class T>
__global__ void copy_strided_kernel(const T* in, const __grid_constant__ Layout in_layout,
                                    const __grid_constant__ Layout out_layout, T* out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= out_layout.size()) return;
    const Index index = unravel(k, out_layout.shape);
    std::int64_t from = offset(in_layout, index);
    if (in_layout.rank() == 2) {
        from = index[1] * in_layout.strides[0] + index[0] * in_layout.strides[1];
    }
    out[offset(out_layout, index)] = in[from];
}

template <class T>
void launch(const CopyPlan& plan, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(plan.out.layout.size(), 256);
    copy_strided_kernel<<<grid, 256, 0, stream>>>(static_cast<const T*>(plan.in.data),
                                                  plan.in.layout, plan.out.layout,
                                                  static_cast<T*>(plan.out.data));
    gpu::check_launch("copy_strided_kernel", grid, 256);
}

}  // namespace

void launch_strided(const CopyPlan& plan, gpu::Stream stream) {
    with_element(plan.in.element, [&](auto e) { launch<decltype(e)>(plan, stream); });
}

}  // namespace sixdays::day03_views
