// Exercise 2 of Day 04: who reads what.
//
// Tiny, 4 minutes.
//
// A warp sums 2,048 elements, 64 per lane, and the 32 sums are then added up. The result is right,
// but the lanes read far apart. Share the elements out anew, so that neighbours read neighbours.
// (The shuffles that add up the 32 sums come later in the day; leave them as they are.)

__global__ void neighbours_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 64; ++i) {
        // your code
        // stub: sum += in[lane * 64 + i];
        // wrong: sum += in[lane * 32 + i];
        // wrong 2: sum += in[i * 64 + lane];
        sum += in[i * 32 + lane];
        // end of your code
    }
    for (int bit = 16; bit > 0; bit /= 2) sum += __shfl_xor_sync(0xffffffff, sum, bit);
    if (lane == 0) out[0] = sum;
}

void neighbours(const float* in, float* out) {
    neighbours_kernel<<<1, 32>>>(in, out);
}

// hint 1: In one round of the loop all 32 lanes read at the same time. Which 32 elements should
// hint 1: that be?
// hint 2: Round i takes elements 32 i to 32 i + 31, and lane l the l-th of them.
// why: All elements are still summed once, only by other lanes. But now the 32 that are read
// why: together lie in 4 sectors, where they lay in 32.
// told: counted more than once
// told 2: round i begins at element 32 i
