// Step 2: one warp per row. Neighbouring lanes read neighbouring elements, so loads of a contiguous
// row are coalesced, and shuffles combine the results of the lanes. The row is still read three
// times, from memory or from the cache.
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// [kernel]
template <class T>
__global__ void softmax_warp_kernel(const __grid_constant__ Rows<const T> in,
                                    const __grid_constant__ Rows<T> out) {
    const std::int64_t t = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::int64_t r = t / 32, lane = t % 32;
    if (r < in.count()) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        float m = -INFINITY;
        for (std::int64_t i = lane; i < in.length; i += 32) {
            m = std::fmax(m, float(x[i]));
        }
        m = gpu::warp_reduce(m, gpu::Larger());
        float sum = 0;
        for (std::int64_t i = lane; i < in.length; i += 32) {
            sum += std::exp(float(x[i]) - m);
        }
        sum = gpu::warp_reduce(sum, gpu::Plus());
        for (std::int64_t i = lane; i < in.length; i += 32) {
            y[i] = T(std::exp(float(x[i]) - m) / sum);
        }
    }
}
// [kernel]

}  // namespace

template <class T>
void launch_softmax_warp(const Rows<const T>& in, const Rows<T>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(in.count(), kThreads / 32);
    softmax_warp_kernel<T><<<grid, kThreads, 0, stream>>>(in, out);
    gpu::check_launch("softmax_warp_kernel", grid, kThreads);
}

template void launch_softmax_warp(const Rows<const float>&, const Rows<float>&, gpu::Stream);
template void launch_softmax_warp(const Rows<const bf16>&, const Rows<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
