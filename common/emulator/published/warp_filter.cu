// Keeps the positive values with warp-aggregated atomics: the lanes of a warp that keep one reserve
// their positions with a single atomic.
#include <algorithm>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kFullMask = 1, kPlainCounter };

__device__ int place_for_me(int* count, int mistake) {
    const unsigned active = __activemask();
    const unsigned lane = threadIdx.x % 32;
    const int leader = __ffs(static_cast<int>(active)) - 1;
    int first = 0;
    if (static_cast<int>(lane) == leader) {
        if (mistake == kPlainCounter) {
            first = *count;  // MARK plain_counter
            *count = first + __popc(active);
        } else {
            first = atomicAdd(count, __popc(active));
        }
    }
    const unsigned mask = mistake == kFullMask ? 0xffffffffu : active;
    first = __shfl_sync(mask, first, leader);  // MARK full_mask
    return first + __popc(active & ((1u << lane) - 1));
}

// kept: number of values kept, per block
__global__ void warp_filter_kernel(const float* in, int n, float* out, int* count, int* kept,
                                   int mistake) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const float value = i < n ? in[i] : 0.0f;
    if (value > 0.0f) out[place_for_me(count, mistake)] = value;
    const int sum = __syncthreads_count(value > 0.0f);
    if (threadIdx.x == 0) kept[blockIdx.x] = sum;
}

}  // namespace

Outcome warp_filter(int mistake) {
    constexpr int kCount = 300, kThreads = 96, kBlocks = 4;
    const std::vector<float> values = numbers(kCount);
    const std::vector<float> expected = positive(values);
    const Device<float> in(values), out(expected.size());
    std::vector<int> by_block(kBlocks, 0);
    for (int i = 0; i < kCount; ++i) {
        if (values[static_cast<std::size_t>(i)] > 0.0f)
            ++by_block[static_cast<std::size_t>(i / kThreads)];
    }
    const Device<int> count(std::vector<int>(1, 0)), kept(kBlocks);
    warp_filter_kernel<<<kBlocks, kThreads>>>(in.data(), kCount, out.data(), count.data(),
                                              kept.data(), mistake);
    const Outcome counted = compare(kept, by_block);
    if (!counted.right) return counted;
    std::vector<float> got = out.host();
    std::sort(got.begin(), got.end());  // the order is unspecified
    return {cudaSuccess, got == expected};
}

}  // namespace sixdays::emulator::published
