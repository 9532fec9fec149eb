// Step 2: one block per row. Its threads read the row with 128-bit loads for maximum and sum, and
// again to write the result. The rows of all blocks together exceed the L2 cache, so most of them
// are read from memory twice. With the row's loss, which gives the log-sum-exp, the first pass is
// not needed.
#include <type_traits>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx/pack.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// Four adjacent elements.
template <class T>
using Four = std::conditional_t<std::is_same_v<T, float>, uint4, uint2>;
template <class T>
__device__ __forceinline__ Four<T> four(const float (&x)[4]) {
    if constexpr (std::is_same_v<T, float>) {
        return pack<float>(x);
    } else {
        return make_uint2(gpu::pack<T>(x[0], x[1]), gpu::pack<T>(x[2], x[3]));
    }
}

template <int THREADS, bool LOSSES, class T>
__global__ void __launch_bounds__(THREADS, LOSSES ? 1024 / THREADS : 1)
    cross_entropy_backward_block_kernel(const __grid_constant__ Rows<const float> logits,
                                        const __grid_constant__ View<const std::int64_t> targets,
                                        const __grid_constant__ View<const float> losses,
                                        const __grid_constant__ View<const float> grad,
                                        const __grid_constant__ Rows<T> out) {
    const Index at = unravel(blockIdx.x, targets.shape());
    const CutRow<float> row(logits.row(blockIdx.x).first, logits.length);
    T* const y = out.row(blockIdx.x).first;
    const std::int64_t target = targets(at);
    const bool known = 0 <= target && target < logits.length;
    const float g = known ? grad(at) : NAN;
    float m, factor;  // out is factor * exp(x - m), less g at the target
    if (LOSSES) {
        m = known ? losses(at) + row.x[target] : 0;
        factor = g;
        __syncthreads();  // out may be the logits: all threads have read the target's
    } else {
        PartSum mine;
        mine.take_scalars(row);
#pragma unroll 4
        for (int q = threadIdx.x; q < row.vectors; q += THREADS)
            mine.take_vector<float>(row.vector(q));
        const PartSum all = join_block<THREADS>(mine);
        m = all.m;
        factor = g / all.sum;
    }
    const auto result = [&](std::int64_t j, float x) {
        const float p = factor * expf(x - m);
        return j == target ? p - g : p;
    };
    if (static_cast<int>(threadIdx.x) < row.scalars) {
        const std::int64_t j = row.place(threadIdx.x);
        y[j] = T(result(j, row.x[j]));
    }
    const bool vectors = reinterpret_cast<std::uintptr_t>(y + row.head) % sizeof(Four<T>) == 0;
    // All loads come before the first store: the compiler cannot reorder them, because they may
    // alias.
    constexpr int kAtOnce = 4;
    for (int first = threadIdx.x; first < row.vectors; first += kAtOnce * THREADS) {
        uint4 held[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int q = first + i * THREADS;
            if (q < row.vectors) held[i] = __ldcs(&row.vector(q));
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int q = first + i * THREADS;
            if (q >= row.vectors) break;
            const std::int64_t j = row.head + std::int64_t{4} * q;
            float x[4];
            unpack<float>(held[i], x);
#pragma unroll
            for (int e = 0; e < 4; ++e) x[e] = result(j + e, x[e]);
            if (vectors) {
                __stcs(reinterpret_cast<Four<T>*>(y + j), four<T>(x));
            } else {
                for (int e = 0; e < 4; ++e) y[j + e] = T(x[e]);
            }
        }
    }
}

template <int THREADS, bool LOSSES, class T>
void launch(const Rows<const float>& logits, const View<const std::int64_t>& targets,
            const View<const float>& losses, const View<const float>& grad, const Rows<T>& out,
            gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(logits.count(), 1);
    cross_entropy_backward_block_kernel<THREADS, LOSSES>
        <<<grid, THREADS, 0, stream>>>(logits, targets, losses, grad, out);
    gpu::check_launch("cross_entropy_backward_block_kernel", grid, THREADS);
}

constexpr std::int64_t kShort = 2048;  // eight vectors per thread for 64 threads

}  // namespace

template <class T>
void launch_cross_entropy_backward_block(const Rows<const float>& logits,
                                         const View<const std::int64_t>& targets,
                                         const View<const float>& losses,
                                         const View<const float>& grad, const Rows<T>& out,
                                         gpu::Stream stream) {
    const bool is_short = logits.length <= kShort;
    const auto with = losses.data == nullptr
                          ? (is_short ? launch<64, false, T> : launch<512, false, T>)
                          : (is_short ? launch<64, true, T> : launch<512, true, T>);
    with(logits, targets, losses, grad, out, stream);
}
#define SIXDAYS_FOR(T)                                                                       \
    template void launch_cross_entropy_backward_block(                                       \
        const Rows<const float>&, const View<const std::int64_t>&, const View<const float>&, \
        const View<const float>&, const Rows<T>&, gpu::Stream);
SIXDAYS_FOR(float)
SIXDAYS_FOR(bf16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day06_transformer_ops
