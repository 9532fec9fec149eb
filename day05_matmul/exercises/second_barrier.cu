// Exercise 3 of Day 05: two barriers.
//
// Tiny, 4 minutes.
//
// A block walks along K numbers, 64 at a time: all load them to shared memory, and each thread
// then adds up all 64. At the end it multiplies by a factor of its own. (K is a multiple of 64.)
// Something is missing in the loop.
// Check it as it is: the emulator says who meets whom.

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

// hint 1: The barrier that is there says: all is loaded, now it may be used. What must be sure
// hint 1: before the next 64 are loaded?
// hint 2: That everybody is done with those before. How does a thread learn this?
// why: A fast thread would load the next tile while a slow one still adds up this one. One
// why: barrier stands between loading and using, one between using and loading: two in each
// why: round.
// told: barrier
// told 2: must not be inside of an `if`
