// Exercise 2 of Day 01: enough blocks.
//
// Tiny, 3 minutes.
//
// The kernel is correct and has its guard. How many blocks of 128 threads do n elements need?

__global__ void blocks_kernel(const float* in, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 3 * in[i];
}

void blocks(const float* in, int n, float* out) {
    const int threads = 128;
    // your code: enough blocks, and not one too many
    // stub: const int count = 1;
    // wrong: const int count = n / threads;
    // wrong 2: const int count = (n + 255) / 256;
    const int count = (n + threads - 1) / threads;
    // end of your code
    blocks_kernel<<<count, threads>>>(in, n, out);
}

// hint 1: 128 elements need 1 block, and 129 need 2. What does 129 / 128 give in C++?
// hint 2: Integer division rounds down. Add something to n first so that it rounds up. What is the
// hint 2: most you can add before 128 elements get one block too many?
// why: n + 127 reaches the next multiple of 128. If n is already a multiple, the division drops the
// why: 127 again. n / 128 + 1 would launch one block too many for 128 elements.
// told: n / threads rounds down
// told 2: Only the first 512 are written
