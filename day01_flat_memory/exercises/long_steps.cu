// Exercise 5 of Day 01: few threads, many elements.
//
// Tiny, 6 minutes.
//
// The grid has 4 blocks of 64 threads, whatever n is. Let each thread make several elements,
// out[i] = 3 * in[i], so that in the end each element is made once, and neighbouring threads make
// neighbouring elements.

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

// hint 1: The 256 threads make elements 0 to 255 first. Which are next for thread 0?
// hint 2: A loop that begins at the thread's own number, and steps on by the number of all
// hint 2: threads of the grid. gridDim.x is the number of blocks.
// why: With steps of all 256 threads, thread t makes t, t + 256, t + 512, ...: no two make the
// why: same, and none is left out. In each round neighbours touch neighbours. Steps of blockDim.x
// why: would bring block 0 to the elements of block 1.
// told: a thread goes on by as many as the whole grid has threads
// told 2: the remainder of that division is nobody
