// The loop variables become thread indices. threadIdx.x varies fastest: threads that are adjacent
// in x belong to one warp, so x must run along the last dimension, which has stride 1. Then the
// warp's accesses are coalesced.
#include "day01_flat_memory/indices.hpp"

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day01_flat_memory/offsets.hpp"
#include "day01_flat_memory/steps/indices/steps.hpp"
#include "day01_flat_memory/tiles.hpp"

namespace sixdays::day01_flat_memory {

// --- kernels -------------------------------------------------------------------------------------
namespace {

// [indices2]
__global__ void indices2_kernel(std::int64_t base, std::int64_t M, std::int64_t K, float* out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && k < K) {
        const std::int64_t value = m * base + k;
        out[offset2(m, k, K)] = static_cast<float>(value);
    }
}
// [indices2]

// A grid has at most 65,535 blocks in y and z, and 2^31 - 1 in x. So t and b are grid-stride loops:
// one iteration each for most tensors, more for a very large one.
__global__ void indices3_kernel(std::int64_t base, std::int64_t B, std::int64_t T, std::int64_t C,
                                float* out) {
    const std::int64_t c = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (c >= C) return;
    for (std::int64_t b = blockIdx.z; b < B; b += gridDim.z) {  // blockDim.z is 1
        std::int64_t t = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
        for (; t < T; t += std::int64_t{gridDim.y} * blockDim.y) {
            const std::int64_t value = (b * base + t) * base + c;
            out[offset3(b, t, c, T, C)] = static_cast<float>(value);
        }
    }
}

// A grid has three axes and this loop nest has four. So one flat index i runs over all elements,
// and division and remainder recover the four indices, the last dimension first.
// [indices4]
__global__ void indices4_kernel(std::int64_t base, std::int64_t B, std::int64_t H, std::int64_t T,
                                std::int64_t S, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < B * H * T * S) {
        const std::int64_t k = i % S;
        const std::int64_t q = i / S % T;
        const std::int64_t h = i / S / T % H;
        const std::int64_t b = i / S / T / H;
        const std::int64_t value = ((b * base + h) * base + q) * base + k;
        out[offset4(b, h, q, k, H, T, S)] = static_cast<float>(value);  // out[i] is the same
    }
}
// [indices4]

}  // namespace

// --- launcher ------------------------------------------------------------------------------------

void indices_cuda(std::int64_t base, View<float> out, const gpu::Launch<IndicesPath>& how) {
    check_indices(base, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const gpu::Stream stream = how.stream;
    const IndicesPath path = how.path.value_or(choose_indices(out));
    if (path == IndicesPath::vectorized) return launch_indices_vectorized(base, out, stream);
    if (path == IndicesPath::tile) {
        return gpu::by_tile("indices", [&] { launch_indices_tile(base, out, stream); });
    }
    const Shape& s = out.layout.shape;
    if (s.rank == 2) {
        // [launch2]
        const dim3 block(32, 8);  // 32 columns, 8 rows
        const dim3 grid(gpu::blocks_for(s[1], 32), gpu::blocks_for(s[0], 8));
        indices2_kernel<<<grid, block, 0, stream>>>(base, s[0], s[1], out.data);
        gpu::check_launch("indices2_kernel", grid, block);
        // [launch2]
    }
    if (s.rank == 3) {
        const dim3 block(32, 8);  // 32 channels, 8 positions, 1 sequence
        const dim3 grid(gpu::blocks_for(s[2], 32), gpu::blocks_at_most(s[1], 8, gpu::kMostBlocksYZ),
                        gpu::blocks_at_most(s[0], 1, gpu::kMostBlocksYZ));
        indices3_kernel<<<grid, block, 0, stream>>>(base, s[0], s[1], s[2], out.data);
        gpu::check_launch("indices3_kernel", grid, block);
    }
    if (s.rank == 4) {
        const dim3 block(256);
        const dim3 grid(gpu::blocks_for(n, 256));
        indices4_kernel<<<grid, block, 0, stream>>>(base, s[0], s[1], s[2], s[3], out.data);
        gpu::check_launch("indices4_kernel", grid, block);
    }
}

}  // namespace sixdays::day01_flat_memory
