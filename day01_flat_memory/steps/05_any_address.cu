// Step 5: 16-byte loads need a multiple of 16, and three pointers may agree on none. Loads of
// single elements can be under way together just as well: four of each input before the first sum.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // elements a thread takes

// [kernel]
__global__ void add_any_address_kernel(const float* a, const float* b, std::int64_t n, float* out) {
    // A block owns kEach * blockDim.x elements; a thread takes every blockDim.x-th of them, so
    // that neighbouring threads still touch neighbouring elements.
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * kEach + threadIdx.x;
    float x[kEach], y[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) {
            x[j] = a[k];
            y[j] = b[k];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) {
            out[k] = x[j] + y[j];
        }
    }
}
// [kernel]

}  // namespace

void add_any_address(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kEach * kThreads);
    add_any_address_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, out.data);
    gpu::check_launch("add_any_address_kernel", grid, kThreads);
}

}  // namespace sixdays::day01_flat_memory
