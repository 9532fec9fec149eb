// Exercise 3 of Day 03: a barrier.
//
// Tiny, 4 minutes.
//
// Each block of 64 threads turns its 64 elements round, by way of shared memory. Something is
// missing.

__global__ void wait_for_all_kernel(const float* in, float* out) {
    __shared__ float kept[64];
    const int first = blockIdx.x * 64, t = threadIdx.x;
    // your code: one line is missing between these two
    // stub: kept[t] = in[first + t];
    // stub: out[first + t] = kept[63 - t];
    // wrong: kept[t] = in[first + t];
    // wrong: if (t < 32) __syncthreads();
    // wrong: out[first + t] = kept[63 - t];
    // wrong 2: __syncthreads();
    // wrong 2: kept[t] = in[first + t];
    // wrong 2: out[first + t] = kept[63 - t];
    kept[t] = in[first + t];
    __syncthreads();
    out[first + t] = kept[63 - t];
    // end of your code
}

void wait_for_all(const float* in, int blocks, float* out) {
    wait_for_all_kernel<<<blocks, 64>>>(in, out);
}

// hint 1: Who has stored what thread 0 reads? Has that thread been there yet?
// hint 2: __syncthreads() lets nobody of the block pass before all have come. All must come to it.
// why: What a thread stores to shared memory, another may read only behind a barrier. It stands
// why: outside of every if, since it waits for all threads of the block.
// told: barrier
// told 2: No __syncthreads() stands between
