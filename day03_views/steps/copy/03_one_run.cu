// Step 3: where both tensors are contiguous, no index is needed. A thread moves 16 bytes; the head
// and the tail go byte by byte (common/tensor/vectorized.hpp). One load per thread is enough here:
// two or four were slower.
#include "common/gpu/launch.hpp"
#include "common/tensor/vectorized.hpp"
#include "day03_views/steps/copy/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

__global__ void copy_one_run_kernel(const std::uint8_t* in,
                                    const __grid_constant__ VectorizedRun run, std::uint8_t* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < run.count) {
        const uint4* vectors = reinterpret_cast<const uint4*>(in + run.head);
        reinterpret_cast<uint4*>(out + run.head)[i] = vectors[i];
    }
    if (i < run.scalars) {
        const std::int64_t k = run.scalar_element(i);
        out[k] = in[k];
    }
}

}  // namespace

void launch_copy_one_run(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const auto* from = static_cast<const std::uint8_t*>(in.data);
    auto* to = static_cast<std::uint8_t*>(out.data);
    const VectorizedRun run(to, out.layout.size() * out.element);
    const unsigned grid = gpu::blocks_for(run.threads(), kThreads);
    copy_one_run_kernel<<<grid, kThreads, 0, stream>>>(from, run, to);
    gpu::check_launch("copy_one_run_kernel", grid, kThreads);
}

}  // namespace sixdays::day03_views
