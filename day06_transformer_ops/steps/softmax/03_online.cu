// Step 3: a block for each row, and maximum and sum in one pass. A thread adds up exp(x - m) with
// the largest element m that it has met so far. When it meets a larger one, all that it has added is
// too large by the same factor, exp(m_new - m_old): one multiplication puts it right. So the row is
// read twice, not three times.
#include <cfloat>

#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// [max_sum]
// m begins with the lowest finite float, not with -infinity: x = -infinity
// is no larger, and exp(-infinity - m) is 0. (-infinity - -infinity is NaN.)
struct MaxSum {
    float m;
    float sum;  // of exp(x - m)

    __device__ void take(float x) {
        if (x > m) {
            sum = sum * expf(m - x) + 1;
            m = x;
        } else {
            sum += expf(x - m);
        }
    }
};
struct Join {
    __device__ MaxSum operator()(const MaxSum& a, const MaxSum& b) const {
        MaxSum both;
        both.m = fmaxf(a.m, b.m);
        both.sum = a.sum * expf(a.m - both.m) + b.sum * expf(b.m - both.m);
        return both;
    }
};
// [max_sum]

// [kernel]
template <class OP, class T>
__global__ void softmax_online_kernel(const __grid_constant__ RowWalk rows, const T* in,
                                      std::int64_t stride_in, T* out, std::int64_t stride_out,
                                      std::int64_t length, std::int64_t seen) {
    const Offsets<3> at = rows.offsets(blockIdx.x);
    const Row<const T> x = {in + at.of[0], stride_in};
    const Row<T> y = {out + at.of[1], stride_out};
    const std::int64_t n = seen + at.of[2];
    MaxSum mine = {-FLT_MAX, 0};
    for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
        mine.take(float(x[i]));
    }
    const MaxSum all = gpu::block_reduce<kThreads>(mine, Join());
    const float tail = OP::tail(all.sum);
    for (std::int64_t i = threadIdx.x; i < length; i += kThreads) {
        const bool is_seen = i < n;
        y[i] = T(is_seen ? OP::of(OP::held(float(x[i]) - all.m), tail) : 0.0f);
    }
}
// [kernel]

}  // namespace

template <class OP, class T>
void launch_softmax_online(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream) {
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
        softmax_online_kernel<OP, T><<<rows.size, kThreads, 0, stream>>>(
            rows, from, in.stride, to, out.stride, in.length, seen + t);
        gpu::check_launch("softmax_online_kernel", rows.size, kThreads);
    });
}

template void launch_softmax_online<Shares>(const Rows<const float>&, const Rows<float>&,
                                            std::int64_t, gpu::Stream);
template void launch_softmax_online<Shares>(const Rows<const bf16>&, const Rows<bf16>&,
                                            std::int64_t, gpu::Stream);
template void launch_softmax_online<LogShares>(const Rows<const float>&, const Rows<float>&,
                                               std::int64_t, gpu::Stream);
template void launch_softmax_online<LogShares>(const Rows<const bf16>&, const Rows<bf16>&,
                                               std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
