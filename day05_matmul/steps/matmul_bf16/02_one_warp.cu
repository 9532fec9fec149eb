// Step 2: the tensor core. A warp computes 16 x 8 outputs together: for every 16 k's each lane
// fetches its part of a and of b, the fragments, and one instruction multiplies and adds them all.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul_bf16/fragment.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

// Two adjacent elements in one register, the first one in its lower half.
template <class T>
__device__ std::uint32_t pair(T first, T second) {
    return first.bits | std::uint32_t{second.bits} << 16;
}

// Elements outside the matrix count as 0 and add nothing.
template <class T>
__device__ T element(const View<const T>& of, std::int64_t i, std::int64_t j) {
    return i < of.extent(0) && j < of.extent(1) ? of(i, j) : T::from_bits(0);
}

constexpr int kWarps = 4;  // warps per block, one below another

template <class T>
__global__ void matmul_bf16_one_warp_kernel(const __grid_constant__ View<const T> a,
                                            const __grid_constant__ View<const T> b,
                                            const __grid_constant__ Epilogue epilogue,
                                            const __grid_constant__ View<float> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const int lane = static_cast<int>(threadIdx.x);
    const std::int64_t m0 = 16 * (std::int64_t{blockIdx.y} * kWarps + threadIdx.y);
    const std::int64_t n0 = 8 * std::int64_t{blockIdx.x};
    // [loop]
    float sum[4] = {};
    for (std::int64_t k0 = 0; k0 < K; k0 += 16) {
        std::uint32_t fa[4], fb[2];
        for (int i = 0; i < 4; ++i) {
            const std::int64_t m = m0 + row_of_a(lane, i), k = k0 + k_of_a(lane, i);
            fa[i] = pair(element(a, m, k), element(a, m, k + 1));
        }
        for (int i = 0; i < 2; ++i) {
            const std::int64_t k = k0 + k_of_b(lane, i), n = n0 + column_of_b(lane);
            fb[i] = pair(element(b, k, n), element(b, k + 1, n));
        }
        gpu::mma_16x8x16<T>(sum, fa, fb);
    }
    // [loop]
    for (int i = 0; i < 4; ++i) {
        const std::int64_t m = m0 + row_of_sum(lane, i), n = n0 + column_of_sum(lane, i);
        if (m < M && n < N) out(m, n) = epilogue(sum[i], n, out(m, n));
    }
}

}  // namespace

template <class T>
void launch_matmul_bf16_one_warp(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                 View<float> out, gpu::Stream stream) {
    const dim3 block(32, kWarps);
    const dim3 grid(gpu::blocks_for(out.extent(1), 8), gpu::blocks_for(out.extent(0), 16 * kWarps));
    matmul_bf16_one_warp_kernel<T><<<grid, block, 0, stream>>>(a, b, epilogue, out);
    gpu::check_launch("matmul_bf16_one_warp_kernel", grid, block);
}

template void launch_matmul_bf16_one_warp(View<const bf16>, View<const bf16>, const Epilogue&,
                                          View<float>, gpu::Stream);
template void launch_matmul_bf16_one_warp(View<const f16>, View<const f16>, const Epilogue&,
                                          View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
