// Keeps the positive values: a scan of flags gives each thread its position within the block, and
// one atomic gives the block its position in the output.
#include <algorithm>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kInPlace = 1, kNoBroadcast };
constexpr unsigned kThreads = 128;

// Inclusive count of threads that keep a value. Double-buffered: no step reads what it writes.
__device__ int rank_of(int keeps, int (*counts)[kThreads], int mistake) {
    const unsigned t = threadIdx.x;
    unsigned from = 0;
    counts[0][t] = keeps;
    __syncthreads();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        const unsigned to = mistake == kInPlace ? from : 1 - from;
        int sum = counts[from][t];
        if (t >= distance) sum += counts[from][t - distance];  // MARK in_place
        counts[to][t] = sum;
        __syncthreads();
        from = to;
    }
    return counts[from][t];
}

__global__ void compaction_kernel(const float* in, unsigned n, float* out, int* count,
                                  int mistake) {
    __shared__ int counts[2][kThreads];
    __shared__ int first;
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    const float value = i < n ? in[i] : 0.0f;
    const int rank = rank_of(value > 0.0f, counts, mistake);
    if (threadIdx.x == kThreads - 1) first = atomicAdd(count, rank);  // the last rank is the total
    if (mistake != kNoBroadcast) __syncthreads();
    if (value > 0.0f) out[first + rank - 1] = value;  // MARK no_broadcast
}

}  // namespace

Outcome compaction(int mistake) {
    constexpr unsigned kCount = 600;
    const std::vector<float> values = numbers(kCount);
    const std::vector<float> expected = positive(values);
    const Device<float> in(values), out(expected.size());
    const Device<int> count(std::vector<int>(1, 0));
    compaction_kernel<<<5, kThreads>>>(in.data(), kCount, out.data(), count.data(), mistake);
    const Outcome counted = compare(count, {static_cast<int>(expected.size())});
    if (!counted.right) return counted;
    std::vector<float> got = out.host();
    std::sort(got.begin(), got.end());  // the order of blocks is unspecified
    return {cudaSuccess, got == expected};
}

}  // namespace sixdays::emulator::published
