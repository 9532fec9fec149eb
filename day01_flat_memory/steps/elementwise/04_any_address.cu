// Step 4: float4 needs addresses that are equal modulo 16, and some are not. But the width of a
// load is not what matters: by Little's law, bytes in flight = bandwidth * latency. For `add` an
// H200 needs at least 18 KiB of loads in flight for each SM. With 2,048 threads per SM, step 1 has
// at most 16 KiB in flight and step 3 has 64 KiB. This step has 64 KiB too: each thread issues
// eight scalar loads before its first store.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;
constexpr int kLoads = 8;  // per thread: four elements of two inputs, or eight of one

template <class Op, class T, class... In>
__global__ void any_address_kernel(Op op, std::int64_t n, T* out, const In*... in) {
    // A block owns kEach * blockDim.x elements. A thread takes every blockDim.x-th
    // of them, so neighbouring threads access neighbouring elements.
    constexpr int kEach = kLoads / sizeof...(in);
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * kEach + threadIdx.x;
    T value[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) value[j] = op(in[k]...);
    }
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t k = i + j * kThreads;
        if (k < n) out[k] = value[j];
    }
}

}  // namespace

template <class Op, class T, class... In>
void launch_any_address(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in) {
    const unsigned grid = gpu::blocks_for(n, kLoads / static_cast<int>(sizeof...(in)) * kThreads);
    any_address_kernel<<<grid, kThreads, 0, stream>>>(op, n, out, in...);
    gpu::check_launch("any_address_kernel", grid, kThreads);
}

template void launch_any_address(Square, std::int64_t, gpu::Stream, float*, const float*);
template void launch_any_address(Scale, std::int64_t, gpu::Stream, float*, const float*);
template void launch_any_address(Saxpy, std::int64_t, gpu::Stream, float*, const float*,
                                 const float*);
template void launch_any_address(Add, std::int64_t, gpu::Stream, float*, const float*,
                                 const float*);
template void launch_any_address(Invert, std::int64_t, gpu::Stream, std::uint8_t*,
                                 const std::uint8_t*);

}  // namespace sixdays::day01_flat_memory
