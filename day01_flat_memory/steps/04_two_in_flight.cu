// Step 4: two quads a thread, and all four loads are asked for before the first sum is needed.
// Memory is far away, so what counts is how many bytes are on their way at any moment: those per
// second times the seconds of a round trip (Little's law). A multiprocessor full of 2,048 threads
// has 2 inputs * 4 bytes * 2,048 = 16 KiB under way in step 1, 64 KiB in step 3 and 128 KiB here.
// An H200 needs about 48 KiB, so for two inputs step 3 is enough; with one input it would not be.
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
__global__ void add_two_in_flight_kernel(const float* a, const float* b, std::int64_t n,
                                         std::int64_t head, float* out) {
    // A block owns 2 * blockDim.x quads; a thread takes quad i and the one a block's width later.
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * 2 + threadIdx.x;
    const std::int64_t j = i + blockDim.x;

    const float4* a4 = reinterpret_cast<const float4*>(a + head);
    const float4* b4 = reinterpret_cast<const float4*>(b + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);
    const std::int64_t quads = (n - head) / 4;
    if (j < quads) {
        const float4 ai = a4[i], aj = a4[j];
        const float4 bi = b4[i], bj = b4[j];
        out4[i] = sum(ai, bi);
        out4[j] = sum(aj, bj);
    } else if (i < quads) {
        out4[i] = sum(a4[i], b4[i]);
    }

    const std::int64_t loose = n - 4 * quads;  // head and tail, at most 6: block 0 sees to them
    if (i < loose) {
        const std::int64_t k = i < head ? i : 4 * quads + i;
        out[k] = a[k] + b[k];
    }
}
// [kernel]

}  // namespace

void add_two_in_flight(View<const float> a, View<const float> b, View<float> out,
                       gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const std::int64_t head = head_before_16(a, b, out);
    const std::int64_t quads = (n - head) / 4;
    const unsigned grid = gpu::blocks_for(std::max(quads, n - 4 * quads), 2 * kThreads);
    add_two_in_flight_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, head, out.data);
    gpu::check_launch("add_two_in_flight_kernel", grid, kThreads);
}

}  // namespace sixdays::day01_flat_memory
