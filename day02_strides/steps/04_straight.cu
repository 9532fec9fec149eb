// Step 4: no walk. After simplify() both tensors are one run of memory. 16 bytes a load
// (for a plain copy on an H200 one a thread is best); up to three elements before the first
// multiple of 16 bytes (the head) and up to three after the last whole quad go one by one.
#include <algorithm>

#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// [gather]
__global__ void gather_straight_kernel(const float* in, std::int64_t n, std::int64_t head,
                                       float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const float4* in4 = reinterpret_cast<const float4*>(in + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);
    const std::int64_t quads = (n - head) / 4;
    if (i < quads) {
        out4[i] = in4[i];
    }

    const std::int64_t loose = n - 4 * quads;  // head and tail, at most 6
    if (i < loose) {
        const std::int64_t k = i < head ? i : 4 * quads + i;
        out[k] = in[k];
    }
}
// [gather]

}  // namespace

void gather_straight(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    if (choose_gather(in, out) != GatherPath::straight) {
        refuse("gather: " + to_string(in.layout) +
               " is not one run of memory, or in and out are not equally far past a multiple of "
               "16 bytes");
    }
    const std::int64_t n = out.size();
    if (n == 0) return;
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out.data) % 16);
    const std::int64_t head = std::min((16 - past) % 16 / 4, n);
    const std::int64_t quads = (n - head) / 4;
    const unsigned grid = gpu::blocks_for(std::max(quads, n - 4 * quads), kThreads);
    gather_straight_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, head, out.data);
    gpu::check_launch("gather_straight_kernel", grid, kThreads);
}

}  // namespace sixdays::day02_strides
