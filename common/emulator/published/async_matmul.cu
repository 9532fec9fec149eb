// C = A B in tiles, double-buffered: while one pair is multiplied, the next is copied.
#include <cuda_pipeline_primitives.h>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kWaitTooLittle = 1, kNoBarrier };
constexpr unsigned TILE = 32, DEPTH = 16, PER = 4;  // PER x PER results per thread
constexpr unsigned kThreads = TILE / PER * TILE / PER;

struct alignas(16) Stage {
    float a[TILE][DEPTH];
    float b[DEPTH][TILE];
};

// a and b: the start of this step's tiles
__device__ void fetch(Stage& to, const float* a, const float* b, unsigned n, unsigned k) {
    for (unsigned i = threadIdx.x * 4; i < TILE * DEPTH; i += kThreads * 4) {
        const float* from = a + i / DEPTH * k + i % DEPTH;
        __pipeline_memcpy_async(&to.a[i / DEPTH][i % DEPTH], from, 16);
        from = b + i / TILE * n + i % TILE;
        __pipeline_memcpy_async(&to.b[i / TILE][i % TILE], from, 16);
    }
    __pipeline_commit();
}

__device__ void multiply(const Stage& tiles, unsigned y, unsigned x, float (&sum)[PER][PER]) {
    for (unsigned i = 0; i < DEPTH; ++i) {
        for (unsigned r = 0; r < PER; ++r) {
            for (unsigned c = 0; c < PER; ++c) {
                sum[r][c] +=
                    tiles.a[y + r][i] * tiles.b[i][x + c];  // MARK wait_too_little no_barrier
            }
        }
    }
}

__global__ void async_matmul_kernel(const float* a, const float* b, unsigned n, unsigned k,
                                    float* out, int mistake) {
    __shared__ Stage stages[2];
    a += blockIdx.y * TILE * k;
    b += blockIdx.x * TILE;
    out += blockIdx.y * TILE * n + blockIdx.x * TILE;
    const unsigned y = threadIdx.x / (TILE / PER) * PER, x = threadIdx.x % (TILE / PER) * PER;
    float sum[PER][PER] = {};
    const unsigned steps = k / DEPTH;
    fetch(stages[0], a, b, n, k);
    for (unsigned step = 0; step < steps; ++step) {
        const bool more = step + 1 < steps;
        const unsigned start = (step + 1) * DEPTH;
        if (more) fetch(stages[(step + 1) % 2], a + start, b + start * n, n, k);
        __pipeline_wait_prior(more || mistake == kWaitTooLittle ? 1 : 0);
        __syncthreads();
        multiply(stages[step % 2], y, x, sum);
        if (mistake != kNoBarrier) __syncthreads();  // all have read what is overwritten next
    }
    for (unsigned r = 0; r < PER; ++r) {
        for (unsigned c = 0; c < PER; ++c) out[(y + r) * n + x + c] = sum[r][c];
    }
}

}  // namespace

Outcome async_matmul(int mistake) {
    constexpr unsigned M = 64, N = 96, K = 80;
    const std::vector<float> a = numbers(M * K), b = numbers(K * N);
    const Device<float> in_a(a), in_b(b), out(M * N);
    const dim3 grid(N / TILE, M / TILE);
    async_matmul_kernel<<<grid, kThreads>>>(in_a.data(), in_b.data(), N, K, out.data(), mistake);
    return compare(out, product(a, b, M, N, K));
}

}  // namespace sixdays::emulator::published
