// A sum in one launch. Each block sums its part of the input; the last block to finish sums the
// partial results.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoFence = 1, kNoBarrier };
constexpr unsigned kThreads = 128;

__device__ unsigned blocks_done = 0;

// The sum of all threads' values, in thread 0.
__device__ float block_sum(float mine, float* sums) {
    const unsigned t = threadIdx.x;
    sums[t] = mine;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    return sums[0];
}

__global__ void last_block_sum_kernel(const float* in, unsigned n, float* partials, float* out,
                                      int mistake) {
    __shared__ float sums[kThreads];
    __shared__ bool last;
    const unsigned stride = gridDim.x * kThreads;
    float mine = 0.0f;
    for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += stride) mine += in[i];
    const float sum = block_sum(mine, sums);
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
        if (mistake != kNoFence) __threadfence();
        // Wraps to 0 at the last block, ready for the next launch.
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    if (mistake != kNoBarrier) __syncthreads();
    if (!last) return;  // MARK no_barrier
    float rest = 0.0f;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) {
        rest += partials[block];  // MARK no_fence
    }
    const float total = block_sum(rest, sums);
    if (threadIdx.x == 0) *out = total;
}

}  // namespace

Outcome last_block_sum(int mistake) {
    constexpr int kBlocks = 5;
    const std::vector<float> values = numbers(1000);
    const Device<float> in(values), partials(kBlocks), out(1);
    last_block_sum_kernel<<<kBlocks, kThreads>>>(in.data(), 1000, partials.data(), out.data(),
                                                 mistake);
    float sum = 0.0f;
    for (const float v : values) sum += v;
    return compare(out, {sum});
}

}  // namespace sixdays::emulator::published
