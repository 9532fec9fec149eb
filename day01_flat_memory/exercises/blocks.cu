// Exercise 2 of Day 01: enough blocks.
//
// Tiny, 3 minutes.
//
// The kernel is right and has its guard. How many blocks of 128 threads do n elements need?

__global__ void blocks_kernel(const float* in, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 3 * in[i];
}

void blocks(const float* in, int n, float* out) {
    const int threads = 128;
    // your code: as many as are needed, and none too many
    // stub: const int count = 1;
    // wrong: const int count = n / threads;
    const int count = (n + threads - 1) / threads;
    // end of your code
    blocks_kernel<<<count, threads>>>(in, n, out);
}

// hint 1: 128 elements need 1 block, 129 need 2. What does 129 / 128 give in C++?
// hint 2: Integer division rounds down. Add something to n first, so that it rounds up: what is the
// hint 2: most you may add without a block too many for 128?
// why: n + 127 reaches the next multiple of 128, unless n is one already, and then the division
// why: drops the 127 again. n / 128 + 1 would be a block too many for 128 elements.
// told: n / threads rounds down
