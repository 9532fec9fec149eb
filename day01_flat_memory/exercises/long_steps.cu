// Exercise 6 of Day 01: a grid-stride loop.
//
// Tiny, 6 minutes.
//
// The grid has 4 blocks of 64 threads, whatever n is. Let each thread compute several elements,
// out[i] = 3 * in[i]. Each element must be computed exactly once, and neighbouring threads must
// process neighbouring elements.

__global__ void long_steps_kernel(const float* in, int n, float* out) {
    // your code
    // stub: const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // stub: if (i < n) out[i] = 3 * in[i];
    // wrong: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) {
    // wrong: out[i] = 3 * in[i];
    // wrong: }
    const int all = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
        out[i] = 3 * in[i];
    }
    // wrong 2: const int first = blockIdx.x * blockDim.x + threadIdx.x, each = n / 256;
    // wrong 2: for (int i = first * each; i < (first + 1) * each; ++i) out[i] = 3 * in[i];
    // end of your code
}

void long_steps(const float* in, int n, float* out) {
    long_steps_kernel<<<4, 64>>>(in, n, out);
}

// hint 1: The 256 threads process elements 0 to 255 first. Which element does thread 0 process
// hint 1: next?
// hint 2: Write a loop that starts at the thread's index in the grid and advances by the total
// hint 2: number of threads. gridDim.x is the number of blocks.
// why: With a stride of all 256 threads, thread t processes t, t + 256, t + 512, ... No two threads
// why: share an element, and none is left out. In every round neighbouring threads access
// why: neighbouring elements. A stride of blockDim.x would take block 0 into the elements of block
// why: 1.
// told: The stride is the number of threads in the grid
// told 2: the remainder is not processed
