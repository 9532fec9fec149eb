// Step 3: online softmax with one block per row: maximum and sum in one pass. A thread adds up
// exp(x - m), where m is the largest element so far. When a larger element is found, the sum is too
// large by the factor exp(m_new - m_old), and one multiplication corrects it. So the row is read
// twice, not three times. (Milakov and Gimelshein 2018, arXiv 1805.02867.)
#include <cfloat>

#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMostBlocks = (1u << 31) - 1;

// [max_sum]
// m starts at the lowest finite float, not at -infinity: x = -infinity
// is not larger, and exp(-infinity - m) is 0. (-infinity - -infinity is NaN.)
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

template <class T>
__global__ void softmax_online_kernel(const __grid_constant__ Rows<const T> in,
                                      const __grid_constant__ Rows<T> out) {
    for (std::int64_t r = blockIdx.x; r < in.count(); r += gridDim.x) {
        const Row<const T> x = in.row(r);
        const Row<T> y = out.row(r);
        // [row]
        MaxSum mine = {-FLT_MAX, 0};
        for (std::int64_t i = threadIdx.x; i < in.length; i += kThreads) {
            mine.take(float(x[i]));
        }
        const auto [m, sum] = gpu::block_reduce<kThreads>(mine, Join());
        for (std::int64_t i = threadIdx.x; i < in.length; i += kThreads) {
            y[i] = T(std::exp(float(x[i]) - m) / sum);
        }
        // [row]
    }
}

}  // namespace

template <class T>
void launch_softmax_online(const Rows<const T>& in, const Rows<T>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_at_most(in.count(), 1, kMostBlocks);
    softmax_online_kernel<T><<<grid, kThreads, 0, stream>>>(in, out);
    gpu::check_launch("softmax_online_kernel", grid, kThreads);
}

template void launch_softmax_online(const Rows<const float>&, const Rows<float>&, gpu::Stream);
template void launch_softmax_online(const Rows<const bf16>&, const Rows<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
