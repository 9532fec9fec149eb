// Exercise 7 of Day 05: tensor cores: the missing phase.
//
// Medium, 20 minutes.
//
// Two warps work at the same time. The first one brings tiles of 32 numbers to shared memory, where
// there is room for two, the stages, used in turn. The second one adds up all numbers; lane l gives
// out l + 1 times the sum. For each stage they meet at two barriers that count arrivals (an
// mbarrier, common/gpu/ptx/mbarrier.hpp): full, its tile is there, and empty, its tile is added up.
// Each wants 32 arrivals; then a phase is complete, and the next one begins.
//
//     wait(0)    until phase 0 is complete, or 2, 4, ...: the latest one of parity 0
//     wait(1)    until phase 1 is complete, or 3, 5, ...; before phase 0 it lets go at once
//
// With one or two tiles it works.
// Check it as it is: the cases have more, and the emulator says what goes wrong.

#include "common/gpu/ptx/mbarrier.hpp"

__global__ void missing_phase_kernel(const float* in, int tiles, float* out) {
    __shared__ float tile[2][32];
    __shared__ sixdays::gpu::Mbarrier full[2], empty[2];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 2) {
        full[threadIdx.x].init(32);
        empty[threadIdx.x].init(32);
    }
    __syncthreads();
    int stage = 0;
    unsigned parity = 0;
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
        if (threadIdx.x < 32) {
            empty[stage].wait(parity ^ 1);  // at first they are
            tile[stage][lane] = in[32 * i + lane];
            full[stage].arrive();
        } else {
            full[stage].wait(parity);
            for (int k = 0; k < 32; ++k) sum += tile[stage][k];
            empty[stage].arrive();
        }
        // your code: on to the next tile
        // stub: stage = (stage + 1) % 2;
        // wrong: stage = (stage + 1) % 2;
        // wrong: parity ^= 1;
        stage = (stage + 1) % 2;
        if (stage == 0) parity ^= 1;
        // end of your code
    }
    if (threadIdx.x >= 32) out[lane] = static_cast<float>(lane + 1) * sum;
}

void missing_phase(const float* in, int tiles, float* out) {
    missing_phase_kernel<<<1, 64>>>(in, tiles, out);
}

// hint 1: Tile 2 goes to stage 0 again. Which phase of full[0] must be complete before it is added
// hint 1: up, and what is its parity?
// hint 2: Phase 1, of parity 1. A wait(0) lets go at once: phase 0 is complete, it was tile 0's.
// hint 3: Tiles 0 and 1 want parity 0, tiles 2 and 3 parity 1, tiles 4 and 5 parity 0 again.
// why: A stage has one phase of its barriers for each round of the ring. So the parity flips
// why: when the ring begins again, and not from tile to tile: both stages of a round want the
// why: same one.
// told: thread (32,0,0) of block (0,0,0) reads 4 bytes at
