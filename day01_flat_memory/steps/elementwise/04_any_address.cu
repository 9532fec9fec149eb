// Step 4: quads need a multiple of 16, and the tensors' addresses may agree on none. But the width
// of a load is not the point. Memory is far away, so what counts is how many bytes are on their way
// at any moment: those per second times the seconds of a round trip (Little's law). For `add` an
// H200 needs about 20 KiB of loads for each multiprocessor. With 2,048 threads, step 1 has 16 KiB
// of them in flight, step 3 has 64 KiB, and so has this one: eight single loads of a thread before
// its first store.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;
constexpr int kLoads = 8;  // of a thread: four elements of two inputs, or eight of one

// [kernel]
template <class Op, class T, class... In>
__global__ void any_address_kernel(Op op, std::int64_t n, T* out, const In*... in) {
    // A block owns kEach * blockDim.x elements; a thread takes every
    // blockDim.x-th of them, so neighbouring threads touch neighbours.
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
// [kernel]

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
