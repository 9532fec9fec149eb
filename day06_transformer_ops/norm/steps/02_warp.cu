// Step 2: one warp per row. Neighbouring lanes read neighbouring elements, so loads of a contiguous
// row are coalesced, and shuffles combine the sums of the lanes. The row is still read three times,
// from memory or from the cache.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/norm/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// x, s, y: one row of the input, the residual and the output.
template <class OP, class T>
__device__ void norm_by_warp(Row<const T> x, const Row<T>& s, const Row<T>& y, std::int64_t length,
                             const NormParameters& parameters) {
    const int lane = threadIdx.x % 32;
    if (s.first != nullptr) {
        for (std::int64_t i = lane; i < length; i += 32) {
            s[i] = T(float(s[i]) + float(x[i]));
        }
        __syncwarp();  // all lanes read element 0, which one lane has written
        x = {s.first, s.stride};
    }
    // [row]
    const float N = static_cast<float>(length);
    float mean = 0;
    if (OP::kCentered) {
        const float first = float(x[0]);
        for (std::int64_t i = lane; i < length; i += 32) {
            mean += float(x[i]) - first;
        }
        mean = first + gpu::warp_reduce(mean, Plus()) / N;
    }
    float squares = 0;
    for (std::int64_t i = lane; i < length; i += 32) {
        const float d = float(x[i]) - mean;
        squares += d * d;
    }
    squares = gpu::warp_reduce(squares, Plus());
    const float scale = 1 / sqrtf(squares / N + parameters.eps);
    for (std::int64_t i = lane; i < length; i += 32) {
        y[i] = T(parameters((float(x[i]) - mean) * scale, i));
    }
    // [row]
}

template <class OP, class T>
__global__ void norm_warp_kernel(const __grid_constant__ RowWalk rows, const T* in,
                                 std::int64_t stride_in, T* residual, std::int64_t stride_residual,
                                 T* out, std::int64_t stride_out, std::int64_t length,
                                 const __grid_constant__ NormParameters parameters) {
    const unsigned r = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    if (residual != nullptr) residual += at.of[2];
    norm_by_warp<OP, T>({in + at.of[0], stride_in}, {residual, stride_residual},
                        {out + at.of[1], stride_out}, length, parameters);
}

}  // namespace

template <class OP, class T>
void launch_norm_warp(const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream) {
    walk_rows(
        in, out, residual.first.layout,
        [&](const RowWalk& rows, const T* from, T* to, std::int64_t third) {
            T* const sum = residual.first.data != nullptr ? residual.first.data + third : nullptr;
            const unsigned grid = gpu::blocks_for(rows.size, kThreads / 32);
            norm_warp_kernel<OP, T><<<grid, kThreads, 0, stream>>>(
                rows, from, in.stride, sum, residual.stride, to, out.stride, in.length, parameters);
            gpu::check_launch("norm_warp_kernel", grid, kThreads);
        });
}

template void launch_norm_warp<LayerNorm>(const Rows<const float>&, const NormParameters&,
                                          const Rows<float>&, const Rows<float>&, gpu::Stream);
template void launch_norm_warp<LayerNorm>(const Rows<const bf16>&, const NormParameters&,
                                          const Rows<bf16>&, const Rows<bf16>&, gpu::Stream);
template void launch_norm_warp<RmsNorm>(const Rows<const float>&, const NormParameters&,
                                        const Rows<float>&, const Rows<float>&, gpu::Stream);
template void launch_norm_warp<RmsNorm>(const Rows<const bf16>&, const NormParameters&,
                                        const Rows<bf16>&, const Rows<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
