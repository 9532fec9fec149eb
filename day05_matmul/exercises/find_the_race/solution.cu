// Exercise 10: find the races.
// Specification:    day05_matmul/exercises/find_the_race/find_the_race.hpp
// CPU reference:    day05_matmul/exercises/find_the_race/find_the_race_cpu.cpp
// Hints:            common/learn hint day05 find_the_race
#include "common/gpu/launch.hpp"
#include "day05_matmul/exercises/find_the_race/find_the_race.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int T = 16;  // extent of a tile: of out, of a and of b

__global__ void find_the_race_kernel(const float* a, const float* b, std::int64_t N, float* out) {
    __shared__ float tile_a[T][T], tile_b[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    const std::int64_t m = std::int64_t{blockIdx.y} * T + y;
    const std::int64_t n = std::int64_t{blockIdx.x} * T + x;
    float sum = 0;
    for (std::int64_t k0 = 0; k0 < N; k0 += T) {
        // your code: three bugs, all about order
        // wrong: tile_a[y][x] = m < N && k0 + x < N ? a[m * N + k0 + x] : 0;
        // wrong: tile_b[x][y] = k0 + y < N && n < N ? b[(k0 + y) * N + n] : 0;
        // wrong: __syncthreads();
        // wrong: tile_b[y][x] = k0 + y < N && n < N ? b[(k0 + y) * N + n] : 0;
        // wrong: __syncthreads();
        // wrong: for (int k = 0; k < T; ++k) sum += tile_a[y][k] * tile_b[k][x];
        // wrong: __syncthreads();
        // wrong 2: for (int k = 0; k < T && k0 + k < N && m < N && n < N; ++k)
        // wrong 2: sum += a[m * N + k0 + k] * b[(k0 + k) * N + n];
        // told: the first store to tile_b is overwritten: remove it
        // told 2: reading a and b for every product moves 4,224
        // stub: tile_a[y][x] = m < N && k0 + x < N ? a[m * N + k0 + x] : 0;
        // stub: // transpose b on the way, so that the loads are coalesced
        // stub: tile_b[x][y] = k0 + y < N && n < N ? b[(k0 + y) * N + n] : 0;
        // stub: // and undo that where it was not needed
        // stub: tile_b[y][x] = k0 + y < N && n < N ? b[(k0 + y) * N + n] : 0;
        // stub: for (int k = 0; k < T; ++k) sum += tile_a[y][k] * tile_b[k][x];
        tile_a[y][x] = m < N && k0 + x < N ? a[m * N + k0 + x] : 0;
        tile_b[y][x] = k0 + y < N && n < N ? b[(k0 + y) * N + n] : 0;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
        // end of your code
    }
    if (m < N && n < N) out[m * N + n] = sum;
}

}  // namespace

void find_the_race_cuda(View<const float> a, View<const float> b, View<float> out,
                        gpu::Stream stream) {
    check_find_the_race(a, b, out);
    const std::int64_t N = out.extent(0);
    if (N == 0) return;
    const dim3 block(T, T);
    const dim3 grid(gpu::blocks_for(N, T), gpu::blocks_for(N, T));
    find_the_race_kernel<<<grid, block, 0, stream>>>(a.data, b.data, N, out.data);
    gpu::check_launch("find_the_race_kernel", grid, block);
}

}  // namespace sixdays::day05_matmul
