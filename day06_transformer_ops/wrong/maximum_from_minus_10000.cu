// Wrong on purpose: the search for the largest element begins with a number that is small, but not small
// enough: a row far below it has no exp that is not 0.
//
// case: softmax and log_softmax of rows of all kinds, NaN and infinities too: what NumPy says
// refused: got nan
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

template <class OP, class T>
__global__ void softmax_warp_kernel(const __grid_constant__ RowWalk rows, const T* in,
                                    std::int64_t stride_in, T* out, std::int64_t stride_out,
                                    std::int64_t length, std::int64_t seen) {
    const int lane = threadIdx.x % 32;
    const unsigned r = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    const Row<const T> x = {in + at.of[0], stride_in};
    const Row<T> y = {out + at.of[1], stride_out};
    const std::int64_t n = seen + at.of[2];
    float m = -10000;  // <- the mistake
    for (std::int64_t i = lane; i < n; i += 32) {
        m = fmaxf(m, float(x[i]));
    }
    m = gpu::warp_reduce(m, Larger());
    float sum = 0;
    for (std::int64_t i = lane; i < n; i += 32) {
        sum += OP::term(OP::held(float(x[i]) - m));
    }
    const float tail = OP::tail(gpu::warp_reduce(sum, Plus()));
    for (std::int64_t i = lane; i < length; i += 32) {
        y[i] = T(i < n ? OP::of(OP::held(float(x[i]) - m), tail) : 0.0f);
    }
}

}  // namespace

template <class OP, class T>
void launch_softmax_warp(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                         gpu::Stream stream) {
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
        const unsigned grid = gpu::blocks_for(rows.size, kThreads / 32);
        softmax_warp_kernel<OP, T><<<grid, kThreads, 0, stream>>>(rows, from, in.stride, to,
                                                                  out.stride, in.length, seen + t);
        gpu::check_launch("softmax_warp_kernel", grid, kThreads);
    });
}

template void launch_softmax_warp<Shares>(const Rows<const float>&, const Rows<float>&,
                                          std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
