// Split-K: C = A B with K cut into slices, one block per slice. The blocks of a tile of C add their
// partial sums in turn, ordered by a semaphore.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoFence = 1, kNoBarrier };
constexpr unsigned TILE = 16;

struct Semaphores {  // per tile, all 0 before and after the launch
    unsigned* ticket;
    unsigned* turn;
};

__device__ float partial_sum(const float* a, const float* b, unsigned row, unsigned col, unsigned n,
                             unsigned k, unsigned slice) {
    const unsigned depth = k / gridDim.z;
    float sum = 0.0f;
    for (unsigned i = slice * depth; i < (slice + 1) * depth; ++i) {
        sum += a[row * k + i] * b[i * n + col];
    }
    return sum;
}

__global__ void split_k_kernel(const float* a, const float* b, unsigned n, unsigned k,
                               Semaphores semaphores, float* out, int mistake) {
    __shared__ unsigned slice;
    const bool first_thread = threadIdx.x == 0 && threadIdx.y == 0;
    const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
    // Slices are assigned in starting order: no block waits for one that has not started.
    if (first_thread) slice = atomicInc(&semaphores.ticket[tile], gridDim.z - 1);
    __syncthreads();
    const unsigned row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    const float sum = partial_sum(a, b, row, col, n, k, slice);
    if (first_thread) {
        while (atomicAdd(&semaphores.turn[tile], 0u) != slice) {
        }
        __threadfence();
    }
    __syncthreads();
    float* mine = &out[row * n + col];
    *mine = slice == 0 ? sum : *mine + sum;  // MARK no_fence no_barrier
    if (mistake != kNoFence) __threadfence();
    if (mistake != kNoBarrier) __syncthreads();
    if (first_thread) atomicExch(&semaphores.turn[tile], (slice + 1) % gridDim.z);
}

}  // namespace

Outcome split_k(int mistake) {
    constexpr unsigned M = 32, N = 48, K = 60;
    const std::vector<float> a = numbers(M * K), b = numbers(K * N);
    const dim3 grid(N / TILE, M / TILE, 4), block(TILE, TILE);
    const Device<float> in_a(a), in_b(b), out(M * N);
    const std::vector<unsigned> zeros(grid.x * grid.y, 0u);
    const Device<unsigned> ticket(zeros), turn(zeros);
    const Semaphores semaphores{ticket.data(), turn.data()};
    split_k_kernel<<<grid, block>>>(in_a.data(), in_b.data(), N, K, semaphores, out.data(),
                                    mistake);
    return compare(out, product(a, b, M, N, K));
}

}  // namespace sixdays::emulator::published
