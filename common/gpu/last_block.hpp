/// @file
/// For .cu files: blocks that share a piece of work, and the last one to finish, which combines
/// their results.
///
/// Another block may read what this one has written only if the store becomes visible before the
/// count. __threadfence() orders the two; without it the counter may be seen first.
#pragma once

#include <cuda_runtime.h>

namespace sixdays::gpu {

// [last_to_come]
/// Is this the last block of `blocks` to arrive here? Then it sees everything
/// that all of them wrote before. All threads of a block call it.
/// @param done  a counter: 0 before the launch, and 0 again afterwards
__device__ inline bool last_to_come(unsigned* done, unsigned blocks) {
    __shared__ bool last;
    __syncthreads();  // all threads of this block have written their results
    if (threadIdx.x == 0) {
        __threadfence();  // results first, then the count
        last = atomicInc(done, blocks - 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}
// [last_to_come]

}  // namespace sixdays::gpu
