// Step 2: several rows per thread. A row of 128 bytes keeps only 8 lanes busy, so the bytes in
// flight must come from many rows: 4 bytes * 8 rows or 16 bytes * 4 rows, times 2,048 threads, is
// 64 or 128 KiB per SM.
#include <cstdint>

#include "common/gpu/launch.hpp"
#include "day02_strides/steps/pitched/steps.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// Element k of up to ROWS rows, starting at row m and blockDim.y apart: all are loaded before the
// first is stored.
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

// A row is whole Elements and then a scalar tail of up to 3 floats (none if an Element is a float).
// x indexes both.
template <class Element, int ROWS>
__global__ void rows_kernel(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                            float* out, std::int64_t out_pitch) {
    constexpr std::int64_t kEach = sizeof(Element) / sizeof(float);
    const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t whole = K / kEach;
    if (x >= whole + K % kEach) return;
    const std::int64_t k = x < whole ? kEach * x : (kEach - 1) * whole + x;
    const std::int64_t rows_of_block = std::int64_t{ROWS} * blockDim.y;
    std::int64_t m = blockIdx.y * rows_of_block + threadIdx.y;
    for (; m < M; m += gridDim.y * rows_of_block) {
        if (x < whole) {
            copy_rows<Element, ROWS>(in + k, in_pitch, m, M, out + k, out_pitch);
        } else {
            copy_rows<float, ROWS>(in + k, in_pitch, m, M, out + k, out_pitch);
        }
    }
}

// A block as wide as a row needs, up to a warp, and as tall as its threads allow.
dim3 block_for(std::int64_t width) {
    unsigned x = 1;
    while (x < 32 && x < width) x *= 2;
    return dim3(x, kThreads / x);
}

template <class Element, int ROWS>
void launch(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K, float* out,
            std::int64_t out_pitch, const char* name, gpu::Stream stream) {
    constexpr std::int64_t kEach = sizeof(Element) / sizeof(float);
    const std::int64_t width = K / kEach + K % kEach;
    const dim3 block = block_for(width);
    const int rows = static_cast<int>(block.y) * ROWS;
    const dim3 grid(gpu::blocks_for(width, static_cast<int>(block.x)),
                    gpu::blocks_at_most(M, rows, gpu::kMostBlocksYZ));
    rows_kernel<Element, ROWS><<<grid, block, 0, stream>>>(in, in_pitch, M, K, out, out_pitch);
    gpu::check_launch(name, grid, block);
}

}  // namespace

void pitched_singles(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                     float* out, std::int64_t out_pitch, gpu::Stream stream) {
    launch<float, 8>(in, in_pitch, M, K, out, out_pitch, "rows_kernel<float>", stream);
}

void pitched_vectors(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                     float* out, std::int64_t out_pitch, gpu::Stream stream) {
    launch<float4, 4>(in, in_pitch, M, K, out, out_pitch, "rows_kernel<float4>", stream);
}

}  // namespace sixdays::day02_strides
