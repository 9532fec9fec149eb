// Exercise 3 of Day 03: a barrier.
//
// Tiny, 4 minutes.
//
// Each block of 64 threads reverses its 64 elements through shared memory. One line is missing.

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

// hint 1: Which thread stores the element that thread 0 reads? Is it certain that this thread has
// hint 1: already stored it?
// hint 2: __syncthreads() holds every thread of the block until all of them have reached it. All
// hint 2: threads must reach it.
// why: One thread may read what another thread has stored to shared memory only after a barrier.
// why: The barrier must be outside of every `if`, because it waits for all threads of the block.
// told: barrier
// told 2: There is no __syncthreads() between
