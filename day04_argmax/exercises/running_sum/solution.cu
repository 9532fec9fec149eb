// Exercise 8: running sum of each row (inclusive scan).
// Specification:    day04_argmax/exercises/running_sum/running_sum.hpp
// CPU reference:    day04_argmax/exercises/running_sum/running_sum_cpu.cpp
// Hints:            common/learn hint day04 running_sum
#include "common/gpu/launch.hpp"
#include "day04_argmax/exercises/running_sum/running_sum.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kWarps = 8;  // rows per block

__global__ void running_sum_kernel(const float* in, std::int64_t M, std::int64_t N, float* out) {
    // your code: one warp per row, 32 elements at a time
    // wrong 23456: const int lane = threadIdx.x % 32;
    // wrong: const int lane = threadIdx.x;
    // wrong 123456: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 123456: if (m >= M) return;
    // wrong 12356: float before = 0;
    // wrong 4: float before;
    // wrong 123456: for (std::int64_t first = 0; first < N; first += 32) {
    // wrong 123456: const std::int64_t n = first + lane;
    // wrong 5: if (n >= N) return;
    // wrong 123456: float sum = n < N ? in[m * N + n] : 0;
    // wrong 123456: for (int left = 1; left < 32; left *= 2) {
    // wrong 123456: const float x = __shfl_up_sync(0xffffffffu, sum, left);
    // wrong 12345: if (lane >= left) sum += x;
    // wrong 6: if (lane > left) sum += x;
    // wrong 123456: }
    // wrong 123456: sum += before;
    // wrong 123456: if (n < N) out[m * N + n] = sum;
    // wrong 1456: before = __shfl_sync(0xffffffffu, sum, 31);
    // wrong 2: before += __shfl_sync(0xffffffffu, sum, 31);
    // wrong 3: before = sum;
    // wrong 123456: }
    // wrong 7: const int lane = threadIdx.x % 32;
    // wrong 7: const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    // wrong 7: if (m >= M) return;
    // wrong 7: float before = 0;
    // wrong 7: for (std::int64_t first = 0; first < N; first += 32) {
    // wrong 7: const std::int64_t n = first + lane;
    // wrong 7: float sum = before + (n < N ? in[m * N + n] : 0);
    // wrong 7: for (int left = 1; left < 32; left *= 2) {
    // wrong 7: const float x = __shfl_up_sync(0xffffffffu, sum, left);
    // wrong 7: if (lane >= left) sum += x;
    // wrong 7: }
    // wrong 7: if (n < N) out[m * N + n] = sum;
    // wrong 7: before = __shfl_sync(0xffffffffu, sum, 31);
    // wrong 7: }
    // told 7: After the shuffles, add it
    // told: row 1, which belongs to warp 1 of block 0, was not
    // told 2: Right up to element 63, then wrong: check `before`
    // told 3: Right up to element 31, then wrong: check `before`
    // told 4: reads its local variable `before`, which has no value yet
    // told 5: no lane may leave before it
    // told 6: lane d has such a neighbour too
    const int lane = threadIdx.x % 32;
    const std::int64_t m = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    if (m >= M) return;  // all lanes of the warp
    float before = 0;    // the sum of all elements before these 32
    for (std::int64_t first = 0; first < N; first += 32) {
        const std::int64_t n = first + lane;
        float sum = n < N ? in[m * N + n] : 0;  // all lanes take part in the shuffles
        for (int left = 1; left < 32; left *= 2) {
            const float x = __shfl_up_sync(0xffffffffu, sum, left);
            if (lane >= left) sum += x;
        }
        sum += before;
        if (n < N) out[m * N + n] = sum;
        before = __shfl_sync(0xffffffffu, sum, 31);
    }
    // end of your code
}

}  // namespace

void running_sum_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_running_sum(in, out);
    if (out.size() == 0) return;
    const std::int64_t M = in.extent(0), N = in.extent(1);
    const unsigned grid = gpu::blocks_for(M, kWarps);
    running_sum_kernel<<<grid, 32 * kWarps, 0, stream>>>(in.data, M, N, out.data);
    gpu::check_launch("running_sum_kernel", grid, 32 * kWarps);
}

}  // namespace sixdays::day04_argmax
