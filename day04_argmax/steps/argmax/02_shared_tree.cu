// Step 2: one block per output; its threads read the line together. Each thread leaves its best
// candidate in shared memory. Then half of the threads combine two candidates each, then a quarter,
// until one is left.
#include "common/gpu/launch.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 256;

// [better]
/// The better of two candidates from anywhere in a line; if neither is better, the earlier one.
__device__ Best better(Best a, Best b) {
    if (beats(b.value, a.value)) return b;
    return (!beats(a.value, b.value) && b.at < a.at) ? b : a;
}
// [better]

// first: where the line of each output begins. Its elements are `stride` apart.
__global__ void shared_tree_kernel(const __grid_constant__ View<const float> first,
                                   std::uint32_t length, std::int64_t stride,
                                   const __grid_constant__ View<std::int64_t> out) {
    __shared__ Best found[kThreads];
    const std::uint32_t t = threadIdx.x;
    const Index at = unravel(blockIdx.x, out.shape());
    const float* line = &first(at);
    // [kernel]
    Best mine = {-INFINITY, 0};
    for (std::uint32_t i = t; i < length; i += kThreads) {
        const float x = line[i * stride];
        if (beats(x, mine.value)) mine = {x, i};
    }
    found[t] = mine;
    __syncthreads();  // all candidates are written
    for (std::uint32_t half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) found[t] = better(found[t], found[t + half]);
        __syncthreads();  // this level of the tree is done
    }
    // [kernel]
    if (t == 0) out(at) = found[0].at;
}

}  // namespace

void launch_shared_tree(const Lines& lines, const View<std::int64_t>& out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(lines.count(), 1);
    shared_tree_kernel<<<grid, kThreads, 0, stream>>>(
        lines.first, static_cast<std::uint32_t>(lines.length()), lines.stride(), out);
    gpu::check_launch("shared_tree_kernel", grid, kThreads);
}

}  // namespace sixdays::day04_argmax
