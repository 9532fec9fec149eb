// Step 6: one long row, as when choosing the next token. One block would leave all other SMs
// without work, so this is a split reduction in two launches: the first writes maximum and sum of
// each part to the workspace; in the second, each block combines them all and writes its part. No
// block waits for another: the second launch begins when the first has ended.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kEach = 4;  // elements per thread, all in flight
constexpr int kThreads = static_cast<int>(kSplitPart) / kEach;

/// A thread's elements of its block's part of a row: the first has index
/// `first`, the others follow kThreads apart.
template <class T>
struct PartOfRow {
    std::int64_t first;
    float x[kEach];

    __device__ PartOfRow(const Row<const T>& row, std::int64_t length, unsigned part)
        : first(part * kSplitPart + threadIdx.x) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t i = first + j * kThreads;
            x[j] = i < length ? float(row[i]) : -INFINITY;
        }
    }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_parts_kernel(const __grid_constant__ RowWalk rows, const T* in, std::int64_t stride,
                         std::int64_t length, unsigned parts, PartSum* found) {
    const Offsets<3> at = rows.offsets(blockIdx.x / parts);
    const PartOfRow<T> part({in + at.of[0], stride}, length, blockIdx.x % parts);
    PartSum mine;
    mine.take(part.x);
    mine = join_block<kThreads>(mine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_split_kernel(const __grid_constant__ RowWalk rows, const T* in, std::int64_t stride_in,
                         T* out, std::int64_t stride_out, std::int64_t length, unsigned parts,
                         const PartSum* found) {
    const unsigned r = blockIdx.x / parts;
    const Offsets<3> at = rows.offsets(r);
    const PartOfRow<T> part({in + at.of[0], stride_in}, length, blockIdx.x % parts);
    PartSum all;
    for (unsigned k = threadIdx.x; k < parts; k += kThreads) {
        const PartSum other = found[r * parts + k];
        const float m = fmaxf(all.m, other.m);
        all = {m, all.sum * expf(all.m - m) + other.sum * expf(other.m - m)};
    }
    all = join_block<kThreads>(all);
    const Row<T> y = {out + at.of[1], stride_out};
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t i = part.first + j * kThreads;
        if (i < length) y[i] = T(expf(part.x[j] - all.m) / all.sum);
    }
}

}  // namespace

template <class T>
void launch_softmax_split(const Rows<const T>& in, const Rows<T>& out, const View<float>& found,
                          gpu::Stream stream) {
    const auto parts = static_cast<unsigned>(found.extent(1));
    auto* sums = reinterpret_cast<PartSum*>(found.data);
    walk_rows(in, out, out.first.layout, [&](const RowWalk& rows, const T* x, T* y, std::int64_t) {
        const unsigned grid = gpu::blocks_for(std::int64_t{rows.size} * parts, 1);
        softmax_parts_kernel<T>
            <<<grid, kThreads, 0, stream>>>(rows, x, in.stride, in.length, parts, sums);
        gpu::check_launch("softmax_parts_kernel", grid, kThreads);
        softmax_split_kernel<T><<<grid, kThreads, 0, stream>>>(rows, x, in.stride, y, out.stride,
                                                               in.length, parts, sums);
        gpu::check_launch("softmax_split_kernel", grid, kThreads);
        sums += grid;
    });
}

template void launch_softmax_split(const Rows<const float>&, const Rows<float>&, const View<float>&,
                                   gpu::Stream);
template void launch_softmax_split(const Rows<const bf16>&, const Rows<bf16>&, const View<float>&,
                                   gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
