// Step 1: one thread, one element. The loop's body with its `for` replaced by a thread's number.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

// [add]
__global__ void add_one_element_kernel(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
// [add]

}  // namespace

// [launch]
void add_one_element(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;  // a grid of 0 blocks is an error, not an empty launch
    const unsigned grid = gpu::blocks_for(n, kThreads);
    add_one_element_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, out.data);
    gpu::check_launch("add_one_element_kernel", grid, kThreads);
}
// [launch]

}  // namespace sixdays::day01_flat_memory
