// Wrong on purpose: the sums of the parts are added as they are, though each part has subtracted a
// maximum of its own.
//
// case: a shared row of more parts than a block has threads, the largest element in any of them
// refused: All 153600 elements differ
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = static_cast<int>(kSplitPart);  // an element each

__global__ void softmax_parts_kernel(const __grid_constant__ Rows<const float> in, unsigned parts,
                                     PartSum* found) {
    const Row<const float> row = in.row(blockIdx.x / parts);
    const std::int64_t i = std::int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
    const float x[1] = {i < in.length ? row[i] : -INFINITY};
    PartSum mine;
    mine.take(x);
    mine = join_block<kThreads>(mine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;
}

__global__ void softmax_split_kernel(const __grid_constant__ Rows<const float> in, unsigned parts,
                                     const PartSum* found,
                                     const __grid_constant__ Rows<float> out) {
    const unsigned r = blockIdx.x / parts;
    PartSum all;
    for (unsigned k = threadIdx.x; threadIdx.x < 32 && k < parts; k += 32) {
        const PartSum other = found[r * parts + k];
        all.m = fmaxf(all.m, other.m);
        all.sum += other.sum;  // <- the mistake
    }
    all = join_block<kThreads>(all);
    const std::int64_t i = std::int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
    if (i < in.length) out.row(r)[i] = expf(in.row(r)[i] - all.m) / all.sum;
}

}  // namespace

template <>
void launch_softmax_split(const Rows<const float>& in, const Rows<float>& out,
                          const View<float>& found, gpu::Stream stream) {
    const auto parts = static_cast<unsigned>(found.extent(1));
    const unsigned grid = gpu::blocks_for(in.count() * parts, 1);
    auto* sums = reinterpret_cast<PartSum*>(found.data);
    softmax_parts_kernel<<<grid, kThreads, 0, stream>>>(in, parts, sums);
    gpu::check_launch("softmax_parts_kernel", grid, kThreads);
    softmax_split_kernel<<<grid, kThreads, 0, stream>>>(in, parts, sums, out);
    gpu::check_launch("softmax_split_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
