// Step 2, the grid-stride loop: a grid that just fills the GPU (full occupancy, and no block more),
// whose threads walk on in steps of the whole grid. Neighbouring threads still touch neighbouring
// elements, at every step. It is no faster by itself; it pays when a thread has something to keep
// between its elements.
#include "common/gpu/check.hpp"
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

// [kernel]
__global__ void add_grid_stride_kernel(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;  // in the whole grid
    std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i < n; i += threads) {
        out[i] = a[i] + b[i];
    }
}
// [kernel]

}  // namespace

void add_grid_stride(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    check_add(a, b, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    int device = 0, multiprocessors = 0, threads_each = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SIXDAYS_CUDA(
        cudaDeviceGetAttribute(&threads_each, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    const unsigned full = static_cast<unsigned>(multiprocessors * (threads_each / kThreads));
    const unsigned grid = gpu::blocks_at_most(n, kThreads, full);
    add_grid_stride_kernel<<<grid, kThreads, 0, stream>>>(a.data, b.data, n, out.data);
    gpu::check_launch("add_grid_stride_kernel", grid, kThreads);
}

}  // namespace sixdays::day01_flat_memory
