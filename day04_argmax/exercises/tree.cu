// Exercise 3 of Day 04: a tree reduction in shared memory.
//
// Easy, 15 minutes.
//
// A block of 256 threads sums 256 numbers. Each thread stores one number to shared memory. Then 128
// threads each add one number to another, then 64 threads, 32, and so on, until one sum is left.
//
//     8 numbers:   1  2  3  4  5  6  7  8
//     4 threads:   6  8 10 12                 thread t adds number t + 4
//     2 threads:  16 20                       t + 2
//     1 thread:   36                          t + 1

__global__ void tree_kernel(const float* in, float* out) {
    __shared__ float kept[256];
    const int t = threadIdx.x;
    kept[t] = in[blockIdx.x * 256 + t];
    // your code: which threads add, and where does the block wait?
    // stub:
    // wrong: __syncthreads();
    // wrong: for (int half = 128; half > 0; half /= 2) {
    // wrong: if (t < half) kept[t] += kept[t + half];
    // wrong: }
    // wrong 2: __syncthreads();
    // wrong 2: for (int half = 128; half > 0; half /= 2) {
    // wrong 2: if (t < half) {
    // wrong 2: kept[t] += kept[t + half];
    // wrong 2: __syncthreads();
    // wrong 2: }
    // wrong 2: }
    // wrong 3: __syncthreads();
    // wrong 3: for (int k = 1; t == 0 && k < 256; ++k) kept[0] += kept[k];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) kept[t] += kept[t + half];
        __syncthreads();
    }
    // wrong 4: for (int half = 128; half > 0; half /= 2) {
    // wrong 4: __syncthreads();
    // wrong 4: if (t < half) kept[t] = kept[2 * t] + kept[2 * t + 1];
    // wrong 4: }
    // end of your code
    __syncthreads();  // all 256 threads must reach this one, and each of yours
    if (t == 0) out[blockIdx.x] = kept[0];
}

void tree(const float* in, int blocks, float* out) {
    tree_kernel<<<blocks, 256>>>(in, out);
}

// hint 1: Loop over half = 128, 64, ..., 1. In each round, threads 0 to half - 1 add the number
// hint 1: `half` positions further.
// hint 2: In the next round a thread reads what another thread has just written. What is needed in
// hint 2: between, and may it be inside the `if`?
// hint 3: One barrier before the loop, because other threads stored the numbers. One at the end of
// hint 3: each round, after the `if` and not inside it: all 256 threads must reach it, including
// hint 3: those that no longer add.
// why: In a round, thread t writes kept[t], t < half, and reads kept[t + half], which no thread
// why: writes in that round. The barrier between rounds makes the written values visible. 8 rounds
// why: replace 255 sequential additions.
// told: a __syncthreads() is missing between iterations
// told 2: inside an `if` or a loop that not every thread enters
// told 3: a few threads added all numbers
// told 4: which no thread of that round writes
