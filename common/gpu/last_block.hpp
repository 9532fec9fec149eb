/// @file
/// For .cu files: blocks that share a piece of work, and the one that is done last, which joins
/// what they have found.
///
/// Another block may read what this one has written only if the store comes before the counting.
/// __threadfence() says so: without it the counter may be seen first.
#pragma once

#include <cuda_runtime.h>

namespace sixdays::gpu {

// [last_to_come]
/// Is this the last block of `blocks` to come here? Then it sees what all of
/// them have written before. The counter is 0 again afterwards.
__device__ inline bool last_to_come(unsigned* done, unsigned blocks) {
    __shared__ bool last;
    __syncthreads();  // what all threads of this block have found is written
    if (threadIdx.x == 0) {
        __threadfence();  // first what this block has found, then the count
        last = atomicInc(done, blocks - 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}
// [last_to_come]

}  // namespace sixdays::gpu
