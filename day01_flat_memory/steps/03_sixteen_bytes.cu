// Step 3, vectorized loads: a thread asks for 16 bytes at once, four floats. A quarter of the
// instructions move the same bytes, and four times as many bytes are on their way at any moment.
// The address must be a multiple of 16, so up to three elements before the first such address (the
// head) and up to three after the last whole quad (the tail) go one by one.
#include <algorithm>

#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

__device__ float4 sum(float4 p, float4 q) {
    return make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}

// [kernel]
__global__ void add_sixteen_bytes_kernel(const float* a, const float* b, std::int64_t n,
                                         std::int64_t head, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

    const float4* a4 = reinterpret_cast<const float4*>(a + head);
    const float4* b4 = reinterpret_cast<const float4*>(b + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);
    const std::int64_t quads = (n - head) / 4;
    if (i < quads) {
        out4[i] = sum(a4[i], b4[i]);
    }

    const std::int64_t loose = n - 4 * quads;  // head and tail, at most 6
    if (i < loose) {
        const std::int64_t k = i < head ? i : 4 * quads + i;
        out[k] = a[k] + b[k];
    }
}
// [kernel]

}  // namespace

void add_sixteen_bytes(View<const float> a, View<const float> b, View<float> out,
                       gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const std::int64_t head = head_before_16(a, b, out);
    const std::int64_t quads = (n - head) / 4;
    const unsigned grid = gpu::blocks_for(std::max(quads, n - 4 * quads), kThreads);
    add_sixteen_bytes_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, head, out.data);
    gpu::check_launch("add_sixteen_bytes_kernel", grid, kThreads);
}

}  // namespace sixdays::day01_flat_memory
