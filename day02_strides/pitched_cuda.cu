// The ports. x walks along a row, whose elements are neighbours; y walks over the rows.
#include "day02_strides/pitched.hpp"

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.hpp"

namespace sixdays::day02_strides {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// Rows of a thread. A row of 128 bytes keeps only 8 lanes busy, so the bytes under way must come
// from many rows: 4 bytes * 8 rows or 16 bytes * 4 rows, times 2,048 threads, are 64 or 128 KiB.
constexpr int kRowsOfSingles = 8, kRowsOfQuads = 4;

// Element k of up to ROWS rows from row m on, blockDim.y apart: all are asked for before the first
// is stored.
// [rows]
template <class Element, int ROWS>
__device__ void copy_rows(const float* in, std::int64_t in_pitch, std::int64_t m, std::int64_t M,
                          float* out, std::int64_t out_pitch) {
    Element x[ROWS];
    in += m * in_pitch;
    out += m * out_pitch;
    for (int u = 0; u < ROWS; ++u, in += blockDim.y * in_pitch) {
        const bool inside = m + u * blockDim.y < M;
        if (inside) x[u] = *reinterpret_cast<const Element*>(in);
    }
    for (int u = 0; u < ROWS; ++u, out += blockDim.y * out_pitch) {
        const bool inside = m + u * blockDim.y < M;
        if (inside) *reinterpret_cast<Element*>(out) = x[u];
    }
}
// [rows]

// [single]
__global__ void pitched_single_kernel(const float* in, std::int64_t in_pitch, std::int64_t M,
                                      std::int64_t K, float* out, std::int64_t out_pitch) {
    const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= K) return;
    const std::int64_t rows_of_block = std::int64_t{kRowsOfSingles} * blockDim.y;
    std::int64_t m = blockIdx.y * rows_of_block + threadIdx.y;
    for (; m < M; m += gridDim.y * rows_of_block) {
        copy_rows<float, kRowsOfSingles>(in + k, in_pitch, m, M, out + k, out_pitch);
    }
}
// [single]

// A row is K / 4 quads and then up to 3 single elements: x counts through both.
// [sixteen_bytes]
__global__ void pitched_sixteen_bytes_kernel(const float* in, std::int64_t in_pitch, std::int64_t M,
                                             std::int64_t K, float* out, std::int64_t out_pitch) {
    const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t quads = K / 4;
    if (x >= quads + K % 4) return;
    const std::int64_t k = x < quads ? 4 * x : 3 * quads + x;
    const std::int64_t rows_of_block = std::int64_t{kRowsOfQuads} * blockDim.y;
    std::int64_t m = blockIdx.y * rows_of_block + threadIdx.y;
    for (; m < M; m += gridDim.y * rows_of_block) {
        if (x < quads) {
            copy_rows<float4, kRowsOfQuads>(in + k, in_pitch, m, M, out + k, out_pitch);
        } else {
            copy_rows<float, kRowsOfQuads>(in + k, in_pitch, m, M, out + k, out_pitch);
        }
    }
}
// [sixteen_bytes]

// --- launcher ------------------------------------------------------------------------------------

// A block as wide as a row needs, up to a warp, and as tall as that leaves.
dim3 block_for(std::int64_t width) {
    unsigned x = 1;
    while (x < 32 && x < width) x *= 2;
    return dim3(x, kThreads / x);
}

}  // namespace

void pitched_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_pitched(in, out);
    const std::int64_t M = out.extent(0), K = out.extent(1);
    if (M == 0 || K == 0) return;
    const PitchedPath path = choose_pitched(in, out);
    const bool by_16 = path == PitchedPath::sixteen_bytes;
    const std::int64_t width = by_16 ? K / 4 + K % 4 : K;
    const dim3 block = block_for(width);
    const int rows = static_cast<int>(block.y) * (by_16 ? kRowsOfQuads : kRowsOfSingles);
    const dim3 grid(gpu::blocks_for(width, static_cast<int>(block.x)),
                    gpu::blocks_at_most(M, rows, gpu::kMostBlocksYZ));
    const std::int64_t in_pitch = in.layout.stride(0), out_pitch = out.layout.stride(0);
    switch (path) {
        case PitchedPath::sixteen_bytes:
            pitched_sixteen_bytes_kernel<<<grid, block, 0, stream>>>(in.data, in_pitch, M, K,
                                                                     out.data, out_pitch);
            return gpu::check_launch("pitched_sixteen_bytes_kernel", grid, block);
        case PitchedPath::single:
            pitched_single_kernel<<<grid, block, 0, stream>>>(in.data, in_pitch, M, K, out.data,
                                                              out_pitch);
            return gpu::check_launch("pitched_single_kernel", grid, block);
    }
}

}  // namespace sixdays::day02_strides
