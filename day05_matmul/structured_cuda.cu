// The naive kernel, and its launcher.
#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "day05_matmul/structured.hpp"

namespace sixdays::day05_matmul {
namespace {

__global__ void structured_matmul_kernel(const __grid_constant__ View<const float> a,
                                         Structure structure,
                                         const __grid_constant__ View<const float> b,
                                         const __grid_constant__ View<float> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1);
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (m < M && n < N) {
        const Counted count = counted(structure, m, M);
        float sum = 0;
        for (std::int64_t k = count.begin; k < count.end; ++k) {
            sum += element(a, structure, m, k) * b(k, n);
        }
        out(m, n) = sum;
    }
}

}  // namespace

void structured_matmul_cuda(View<const float> a, Structure structure, View<const float> b,
                            View<float> out, gpu::Stream stream) {
    check_structured_matmul(a, structure, b, out);
    require_rows_fit("structured_matmul", "out", out);
    if (out.size() == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(out.extent(1), 32), gpu::blocks_for(out.extent(0), 8));
    structured_matmul_kernel<<<grid, block, 0, stream>>>(a, structure, b, out);
    gpu::check_launch("structured_matmul_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
