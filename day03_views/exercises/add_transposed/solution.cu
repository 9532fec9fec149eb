// Exercise 6: add a matrix and its transpose.
// Specification:    day03_views/exercises/add_transposed/add_transposed.hpp
// CPU reference:    day03_views/exercises/add_transposed/add_transposed_cpu.cpp
// Hints:            common/learn hint day03 add_transposed
#include "common/gpu/launch.hpp"
#include "day03_views/exercises/add_transposed/add_transposed.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 32;  // rows and columns of a tile
constexpr int kRows = 8;   // threads: 8 rows of 32, so each takes 4 elements

__global__ void add_transposed_kernel(const float* a, std::int64_t N, float* out) {
    // your code: a 32 x 32 tile of out, and the mirrored tile of a that it needs
    // This block's tile of out: its first row and its first column.
    const std::int64_t m0 = std::int64_t{blockIdx.y} * kSide;
    const std::int64_t n0 = std::int64_t{blockIdx.x} * kSide;
    const int lane = threadIdx.x;
    __shared__ float mirrored[kSide][kSide + 1];  // rows n0 .., columns m0 .. of a
    for (int i = threadIdx.y; i < kSide; i += kRows) {
        if (n0 + i < N && m0 + lane < N) mirrored[i][lane] = a[(n0 + i) * N + m0 + lane];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kSide; i += kRows) {
        const std::int64_t m = m0 + i, n = n0 + lane;
        if (m < N && n < N) out[m * N + n] = a[m * N + n] + mirrored[lane][i];
    }
    // wrong: __shared__ float tile[kSide][kSide + 1];
    // wrong: const std::int64_t m0 = std::int64_t{blockIdx.y} * kSide, n0 = std::int64_t{blockIdx.x} * kSide;
    // wrong: const int x = threadIdx.x;
    // wrong: for (int y = threadIdx.y; y < kSide; y += kRows) {
    // wrong: if (m0 + y < N && n0 + x < N) tile[y][x] = a[(m0 + y) * N + n0 + x];
    // wrong: }
    // wrong: __syncthreads();
    // wrong: for (int y = threadIdx.y; y < kSide; y += kRows) {
    // wrong: const std::int64_t m = m0 + y, n = n0 + x;
    // wrong: if (m < N && n < N) out[m * N + n] = a[m * N + n] + tile[x][y];
    // wrong: }
    // told: Each tile was added to its own transpose
    // end of your code
}

}  // namespace

void add_transposed_cuda(View<const float> a, View<float> out, gpu::Stream stream) {
    check_add_transposed(a, out);
    const std::int64_t N = out.extent(0);
    if (N == 0) return;
    const dim3 block(kSide, kRows);
    const dim3 grid(gpu::blocks_for(N, kSide), gpu::blocks_for(N, kSide));
    add_transposed_kernel<<<grid, block, 0, stream>>>(a.data, N, out.data);
    gpu::check_launch("add_transposed_kernel", grid, block);
}

}  // namespace sixdays::day03_views
