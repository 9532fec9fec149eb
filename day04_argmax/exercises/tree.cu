// Exercise 3 of Day 04: a tree in shared memory.
//
// Easy, 15 minutes.
//
// A block of 256 threads sums 256 numbers. Each thread stores one to shared memory. Then 128
// threads each add one number to another, then 64, 32, and so on, until 1 is left.
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
    __syncthreads();  // all 256 threads must come here, and to each of yours
    if (t == 0) out[blockIdx.x] = kept[0];
}

void tree(const float* in, int blocks, float* out) {
    tree_kernel<<<blocks, 256>>>(in, out);
}

// hint 1: A loop over half = 128, 64, ..., 1. In each round threads 0 to half - 1 add what lies
// hint 1: half further on.
// hint 2: In the next round a thread reads what another one has just written. What must stand in
// hint 2: between, and may it stand in the if?
// hint 3: A barrier before the loop, since others stored the numbers, and one at the end of each
// hint 3: round, behind the if and not inside it: all 256 threads must come to it, also those that
// hint 3: no longer add.
// why: In a round thread t writes kept[t], t < half, and reads kept[t + half], which nobody
// why: writes in that round. Between rounds the barrier makes what was written visible. 8 rounds
// why: instead of 255 additions.
// told: a __syncthreads() is missing between two rounds
// told 2: inside an `if` or a loop that not every thread enters
// told 3: few threads added all
// told 4: which no thread of that round writes
