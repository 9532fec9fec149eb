// Step 6: one long row, which is the choice of the next token. A block for it would leave all other
// multiprocessors without work, so many warps share it, in two launches: in the first each leaves
// maximum and sum of its part in the workspace; in the second each joins them all, and writes its
// part. No block waits for another: the second launch begins when the first has ended.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = static_cast<int>(kSplitPart) / 32;  // elements of a lane, all in flight

// [part]
/// A lane's elements of its warp's part of a row; the first is number
/// `first`, the others lie 32 apart.
template <class T>
struct Part {
    std::int64_t first;
    float x[kEach];

    __device__ Part(const Row<const T>& row, std::int64_t length, unsigned part)
        : first(part * kSplitPart + threadIdx.x % 32) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t i = first + j * 32;
            x[j] = i < length ? float(row[i]) : -INFINITY;
        }
    }
};

/// What the lanes of a warp have, joined: one correction a lane.
__device__ MaxSum join_warp(const MaxSum& mine) {
    const float m = gpu::warp_reduce(mine.m, Larger());
    return {m, gpu::warp_reduce(mine.sum * expf(mine.m - m), Plus())};
}
// [part]

// [kernel]
template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_parts_kernel(const __grid_constant__ Rows<const T> in, unsigned parts, unsigned all,
                         MaxSum* found) {
    const unsigned k = blockIdx.x * kWarps + threadIdx.x / 32;
    if (k >= all) return;  // all lanes of the warp
    const Part<T> part(in.row(k / parts), in.length, k % parts);
    MaxSum mine = {-FLT_MAX, 0};
    take(mine, part.x);
    mine = join_warp(mine);
    if (threadIdx.x % 32 == 0) found[k] = mine;
}

template <class OP, class T>
__global__ void __launch_bounds__(kThreads)
    softmax_split_kernel(const __grid_constant__ Rows<const T> in, unsigned parts, unsigned all,
                         const MaxSum* found, const __grid_constant__ Rows<T> out) {
    const unsigned k = blockIdx.x * kWarps + threadIdx.x / 32, r = k / parts;
    if (k >= all) return;
    const Part<T> part(in.row(r), in.length, k % parts);
    MaxSum sum = {-FLT_MAX, 0};
#pragma unroll 8
    for (unsigned other = threadIdx.x % 32; other < parts; other += 32) {
        sum = Join()(sum, found[r * parts + other]);
    }
    sum = join_warp(sum);
    const float tail = OP::tail(sum.sum);
    const Row<T> y = out.row(r);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t i = part.first + j * 32;
        if (i < in.length) y[i] = T(OP::of(OP::held(part.x[j] - sum.m), tail));
    }
}
// [kernel]

}  // namespace

template <class OP, class T>
void launch_softmax_split(const Rows<const T>& in, const Rows<T>& out, const View<float>& found,
                          gpu::Stream stream) {
    const auto parts = static_cast<unsigned>(found.extent(1));
    const auto all = static_cast<unsigned>(found.size() / 2);
    const unsigned grid = gpu::blocks_for(all, kWarps);
    auto* const sums = reinterpret_cast<MaxSum*>(found.data);
    softmax_parts_kernel<T><<<grid, kThreads, 0, stream>>>(in, parts, all, sums);
    gpu::check_launch("softmax_parts_kernel", grid, kThreads);
    softmax_split_kernel<OP, T><<<grid, kThreads, 0, stream>>>(in, parts, all, sums, out);
    gpu::check_launch("softmax_split_kernel", grid, kThreads);
}

template void launch_softmax_split<Shares>(const Rows<const float>&, const Rows<float>&,
                                           const View<float>&, gpu::Stream);
template void launch_softmax_split<Shares>(const Rows<const bf16>&, const Rows<bf16>&,
                                           const View<float>&, gpu::Stream);
template void launch_softmax_split<LogShares>(const Rows<const float>&, const Rows<float>&,
                                              const View<float>&, gpu::Stream);
template void launch_softmax_split<LogShares>(const Rows<const bf16>&, const Rows<bf16>&,
                                              const View<float>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
