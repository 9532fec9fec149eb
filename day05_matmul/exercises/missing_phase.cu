// Exercise 8 of Day 05: tensor cores: a pipeline with a wrong phase.
//
// Medium, 20 minutes.
//
// Page: docs/day05_tensor_cores.md
//
// Two warps run concurrently. The first, the producer, loads tiles of 32 numbers to shared memory,
// which has room for two: the stages, used in turn. The second, the consumer, adds up all numbers,
// and lane l writes l + 1 times the sum. For each stage they synchronize through two mbarriers,
// which count arrivals (common/gpu/ptx/mbarrier.hpp): `full` means that the tile has been loaded,
// and `empty` that it has been consumed. Each expects 32 arrivals. Then its phase completes and the
// next one begins.
//
//     wait(0)    until phase 0 is complete, or 2, 4, ...: the latest one of parity 0
//     wait(1)    until phase 1 is complete, or 3, 5, ...; returns at once before phase 0 is
//
// With one or two tiles the kernel works.
// Check it as it is: the cases have more tiles, and the emulator reports what goes wrong.

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
            empty[stage].wait(parity ^ 1);  // returns at once in the first round
            tile[stage][lane] = in[32 * i + lane];
            full[stage].arrive();
        } else {
            full[stage].wait(parity);
            for (int k = 0; k < 32; ++k) sum += tile[stage][k];
            empty[stage].arrive();
        }
        // your code: advance to the next tile
        // stub: stage = (stage + 1) % 2;
        // wrong: stage = (stage + 1) % 2;
        // wrong: parity ^= 1;
        // wrong 2: stage = (stage + 1) % 3;
        // wrong 2: if (stage == 0) parity ^= 1;
        stage = (stage + 1) % 2;
        if (stage == 0) parity ^= 1;
        // end of your code
    }
    if (threadIdx.x >= 32) out[lane] = static_cast<float>(lane + 1) * sum;
}

void missing_phase(const float* in, int tiles, float* out) {
    missing_phase_kernel<<<1, 64>>>(in, tiles, out);
}

// hint 1: Tile 2 goes to stage 0 again. Which phase of full[0] must complete before the consumer
// hint 1: reads it, and what is its parity?
// hint 2: Phase 1, which has parity 1. A wait(0) returns at once, because phase 0 is already
// hint 2: complete: it was that of tile 0.
// hint 3: Tiles 0 and 1 need parity 0, tiles 2 and 3 parity 1, and tiles 4 and 5 parity 0 again.
// why: A stage's barriers complete one phase in each round through the stages. So the parity flips
// why: when stage 0 comes again, and not from tile to tile: both stages of a round need the same
// why: parity.
// told 2: There are two stages, 0 and 1
// told: thread (32,0,0) of block (0,0,0) reads 4 bytes at
