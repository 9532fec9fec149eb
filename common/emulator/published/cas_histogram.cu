// Sums weights by key. Each block has its own bins in shared memory and adds them to the global
// ones at the end. Addition uses compare-and-swap, as before atomicAdd supported float.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNotZeroed = 1, kPlainMerge };
constexpr unsigned kThreads = 96, kBins = 24;

__device__ void add(float* address, float value) {
    unsigned* bits = reinterpret_cast<unsigned*>(address);
    unsigned seen = *bits;  // MARK not_zeroed
    unsigned expected;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __float_as_uint(__uint_as_float(expected) + value));
    } while (seen != expected);
}

__global__ void cas_histogram_kernel(const unsigned char* keys, const float* weights, unsigned n,
                                     float* bins, int mistake) {
    __shared__ float mine[kBins];
    if (mistake != kNotZeroed && threadIdx.x < kBins) mine[threadIdx.x] = 0.0f;
    __syncthreads();
    const unsigned stride = gridDim.x * kThreads;
    for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += stride) {
        add(&mine[keys[i]], weights[i]);
    }
    __syncthreads();
    if (threadIdx.x >= kBins) return;
    if (mistake == kPlainMerge) {
        bins[threadIdx.x] += mine[threadIdx.x];  // MARK plain_merge
    } else {
        add(&bins[threadIdx.x], mine[threadIdx.x]);
    }
}

}  // namespace

Outcome cas_histogram(int mistake) {
    constexpr unsigned kCount = 700;
    const std::vector<float> weights = numbers(kCount);
    std::vector<unsigned char> keys;
    std::vector<float> expected(kBins, 0.0f);
    for (unsigned i = 0; i < kCount; ++i) {
        keys.push_back(static_cast<unsigned char>(i * i % kBins));
        expected[keys[i]] += weights[i];
    }
    const Device<unsigned char> key_list(keys);
    const Device<float> weight_list(weights), bins(std::vector<float>(kBins, 0.0f));
    cas_histogram_kernel<<<3, kThreads>>>(key_list.data(), weight_list.data(), kCount, bins.data(),
                                          mistake);
    return compare(bins, expected);
}

}  // namespace sixdays::emulator::published
