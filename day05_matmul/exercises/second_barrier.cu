// Exercise 3 of Day 05: two barriers.
//
// Tiny, 4 minutes.
//
// A block processes K numbers, 64 at a time. Its threads load 64 numbers to shared memory, and then
// each thread adds up all 64. At the end each thread multiplies its sum by t + 1. (K is a multiple
// of 64.) The loop is missing something.
//
// Check it as it is: the emulator reports which threads race.

__global__ void second_barrier_kernel(const float* in, int K, float* out) {
    __shared__ float tile[64];
    const int t = threadIdx.x;
    float sum = 0;
    for (int first = 0; first < K; first += 64) {
        tile[t] = in[first + t];
        __syncthreads();
        for (int i = 0; i < 64; ++i) sum += tile[i];
        // your code
        // stub:
        // wrong: if (first == 0) __syncthreads();
        __syncthreads();
        // wrong 2: if (t < 32) __syncthreads();
        // end of your code
    }
    out[t] = static_cast<float>(t + 1) * sum;
}

void second_barrier(const float* in, int K, float* out) {
    second_barrier_kernel<<<1, 64>>>(in, K, out);
}

// hint 1: The barrier that is there guarantees that the tile is loaded before it is used. What must
// hint 1: be guaranteed before the next 64 numbers are loaded?
// hint 2: All threads must have finished with the current tile. How does a thread learn this?
// why: Without the second barrier, a fast thread would load the next tile while a slow one still
// why: sums this one. One barrier separates loading from using, and the other separates using from
// why: loading: two in each iteration.
// told: barrier
// told 2: must not be inside an `if`
