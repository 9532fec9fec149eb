// Step 7, for cross-entropy: one block per row. Only maximum and sum are needed, so the row is read
// once, with 128-bit loads, and not kept. Rows may have any alignment.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_block_kernel(const __grid_constant__ RowWalk rows, const T* logits,
                               std::int64_t length, const std::int64_t* targets, float* out) {
    const Offsets<3> at = rows.offsets(blockIdx.x);
    const CutRow<T> row(logits + at.of[0], length);
    PartSum mine;
    mine.take_scalars(row);
#pragma unroll 4
    for (int q = threadIdx.x; q < row.vectors; q += kThreads) {
        mine.take_vector<T>(row.vector(q));
    }
    const PartSum all = join_block<kThreads>(mine);
    if (threadIdx.x == 0) {
        const std::int64_t target = targets[at.of[2]];
        const bool known = 0 <= target && target < length;
        out[at.of[1]] = known ? logf(all.sum) - (float(row.x[target]) - all.m) : NAN;
    }
}

}  // namespace

template <class T>
void launch_cross_entropy(const Rows<const T>& logits, const View<const std::int64_t>& targets,
                          const View<float>& out, gpu::Stream stream) {
    const auto run = [&](const RowWalk& rows, const T* x, float* y, std::int64_t t) {
        cross_entropy_block_kernel<T>
            <<<rows.size, kThreads, 0, stream>>>(rows, x, logits.length, targets.data + t, y);
        gpu::check_launch("cross_entropy_block_kernel", rows.size, kThreads);
    };
    walk_rows(logits.first, out, Cut{targets.layout}, run);
}

template void launch_cross_entropy(const Rows<const float>&, const View<const std::int64_t>&,
                                   const View<float>&, gpu::Stream);
template void launch_cross_entropy(const Rows<const bf16>&, const View<const std::int64_t>&,
                                   const View<float>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
