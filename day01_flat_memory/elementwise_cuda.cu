// The ports: one iteration of the loop has become one thread. A thread finds in blockIdx (its
// block's number), blockDim (threads a block) and threadIdx (its number in the block) who it is.
// They are 32-bit, so the first is widened before the product could wrap: std::int64_t{blockIdx.x}.
// The grid is rounded up to whole
// blocks, so the last block has threads without an element; the guard `i < n` keeps them still.
#include "day01_flat_memory/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;  // a block: 8 warps of 32 threads
constexpr int kEach = 4;       // loads of a thread of invert that are under way together

// [square]
__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * in[i];
    }
}
// [square]

// [scale]
__global__ void scale_kernel(float alpha, const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = alpha * in[i];
    }
}
// [scale]

// [saxpy]
__global__ void saxpy_kernel(float alpha, const float* x, const float* y, std::int64_t n,
                             float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = std::fma(alpha, x[i], y[i]);
    }
}
// [saxpy]

// 255 - x flips every bit of a byte, so 16 bytes turn in four flips of 32 bits.
__device__ uint4 flipped(uint4 x) {
    return make_uint4(~x.x, ~x.y, ~x.z, ~x.w);
}

// [invert16]
__global__ void invert_sixteen_kernel(const std::uint8_t* in, std::int64_t n, std::int64_t head,
                                      std::uint8_t* out) {
    // A block owns kEach * blockDim.x pieces of 16 bytes; a thread takes
    // piece i and those one, two and three blocks' widths later.
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * kEach + threadIdx.x;
    const uint4* in16 = reinterpret_cast<const uint4*>(in + head);
    uint4* out16 = reinterpret_cast<uint4*>(out + head);
    const std::int64_t pieces = (n - head) / 16;
    uint4 x[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < pieces) x[j] = in16[k];
    }
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < pieces) out16[k] = flipped(x[j]);
    }
    const std::int64_t loose = n - 16 * pieces;  // head and tail, at most 30
    if (i < loose) {
        const std::int64_t k = i < head ? i : 16 * pieces + i;
        out[k] = static_cast<std::uint8_t>(255 - in[k]);
    }
}
// [invert16]

// Bytes at a distance from each other that is no multiple of 16. As many loads under way, of fewer
// bytes.
// [invert]
__global__ void invert_single_kernel(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * kEach + threadIdx.x;
    std::uint8_t x[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) x[j] = in[k];
    }
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) out[k] = static_cast<std::uint8_t>(255 - x[j]);
    }
}
// [invert]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

// [launch]
void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;  // a grid of 0 blocks is an error, not an empty launch
    const unsigned grid = gpu::blocks_for(n, kThreads);
    square_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, kThreads);
}
// [launch]

void scale_cuda(float alpha, View<const float> in, View<float> out, gpu::Stream stream) {
    check_scale(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    scale_kernel<<<grid, kThreads, 0, stream>>>(alpha, in.data, n, out.data);
    gpu::check_launch("scale_kernel", grid, kThreads);
}

void saxpy_cuda(float alpha, View<const float> x, View<const float> y, View<float> out,
                gpu::Stream stream) {
    check_saxpy(x, y, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const unsigned grid = gpu::blocks_for(n, kThreads);
    saxpy_kernel<<<grid, kThreads, 0, stream>>>(alpha, x.data, y.data, n, out.data);
    gpu::check_launch("saxpy_kernel", grid, kThreads);
}

// The ladder's two best: one for pointers that agree on a multiple of 16, one for all others.
void add_cuda(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream) {
    switch (choose_add(a, b, out)) {
        case AddPath::sixteen_bytes:
            return add_two_in_flight(a, b, out, stream);
        case AddPath::any_address:
            return add_any_address(a, b, out, stream);
    }
}

void invert_cuda(View<const std::uint8_t> in, View<std::uint8_t> out, gpu::Stream stream) {
    check_invert(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    switch (choose_invert(in, out)) {
        case InvertPath::sixteen_bytes: {
            const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out.data));
            const std::int64_t head = std::min((16 - past % 16) % 16, n);
            const std::int64_t pieces = (n - head) / 16;
            const std::int64_t work = std::max(pieces, n - 16 * pieces);
            const unsigned grid = gpu::blocks_for(work, kEach * kThreads);
            invert_sixteen_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, head, out.data);
            return gpu::check_launch("invert_sixteen_kernel", grid, kThreads);
        }
        case InvertPath::single_bytes: {
            const unsigned grid = gpu::blocks_for(n, kEach * kThreads);
            invert_single_kernel<<<grid, kThreads, 0, stream>>>(in.data, n, out.data);
            return gpu::check_launch("invert_single_kernel", grid, kThreads);
        }
    }
}

}  // namespace sixdays::day01_flat_memory
