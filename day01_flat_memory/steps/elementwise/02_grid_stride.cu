// Step 2, the grid-stride loop: the grid has just enough blocks for full occupancy, and each thread
// advances by the size of the whole grid. In every iteration neighbouring threads still access
// neighbouring elements. By itself this gains little; it pays off when a thread keeps a value
// from one element to the next. From here on the operation is a functor: for add, op(in[i]...) is
// a[i] + b[i].
#include "common/gpu/check.hpp"
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

template <class Op, class T, class... In>
__global__ void grid_stride_kernel(Op op, std::int64_t n, T* out, const In*... in) {
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;  // in the whole grid
    std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i < n; i += threads) {
        out[i] = op(in[i]...);
    }
}

}  // namespace

template <class Op, class T, class... In>
void launch_grid_stride(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in) {
    int device = 0, multiprocessors = 0, threads_each = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SIXDAYS_CUDA(
        cudaDeviceGetAttribute(&threads_each, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const unsigned full = static_cast<unsigned>(multiprocessors * (threads_each / kThreads));
    const unsigned grid = gpu::blocks_at_most(n, kThreads, full);
    grid_stride_kernel<<<grid, kThreads, 0, stream>>>(op, n, out, in...);
    gpu::check_launch("grid_stride_kernel", grid, kThreads);
}

template void launch_grid_stride(Square, std::int64_t, gpu::Stream, float*, const float*);
template void launch_grid_stride(Scale, std::int64_t, gpu::Stream, float*, const float*);
template void launch_grid_stride(Saxpy, std::int64_t, gpu::Stream, float*, const float*,
                                 const float*);
template void launch_grid_stride(Add, std::int64_t, gpu::Stream, float*, const float*,
                                 const float*);
template void launch_grid_stride(Invert, std::int64_t, gpu::Stream, std::uint8_t*,
                                 const std::uint8_t*);

}  // namespace sixdays::day01_flat_memory
