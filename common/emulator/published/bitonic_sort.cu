// Sorts up to 256 values in shared memory. Each stage compares elements whose distance is a power
// of two, ascending in one half and descending in the other.
#include <algorithm>
#include <cfloat>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoBarrier = 1, kNotPadded };
constexpr unsigned kThreads = 256;

__global__ void bitonic_sort_kernel(const float* in, unsigned n, float* out, int mistake) {
    __shared__ float tile[kThreads];
    const unsigned t = threadIdx.x;
    if (t < n) {
        tile[t] = in[t];
    } else if (mistake != kNotPadded) {
        tile[t] = FLT_MAX;
    }
    __syncthreads();
    for (unsigned size = 2; size <= kThreads; size *= 2) {
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            const unsigned partner = t ^ distance;
            if (partner > t) {                               // otherwise the partner compares
                const float a = tile[t], b = tile[partner];  // MARK not_padded
                const bool up = (t & size) == 0;
                if ((a > b) == up) {
                    tile[t] = b;  // MARK no_barrier
                    tile[partner] = a;
                }
            }
            if (mistake != kNoBarrier) __syncthreads();
        }
    }
    if (t < n) out[t] = tile[t];
}

}  // namespace

Outcome bitonic_sort(int mistake) {
    constexpr unsigned kCount = 200;
    std::vector<float> values = numbers(kCount);
    const Device<float> in(values), out(kCount);
    bitonic_sort_kernel<<<1, kThreads>>>(in.data(), kCount, out.data(), mistake);
    std::sort(values.begin(), values.end());
    return compare(out, values);
}

}  // namespace sixdays::emulator::published
