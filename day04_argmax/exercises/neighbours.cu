// Exercise 2 of Day 04: coalesced loads.
//
// Tiny, 4 minutes.
//
// A warp sums 2,048 elements, 64 per lane, and then adds up the 32 partial sums. The result is
// right, but the loads are uncoalesced: the lanes read elements that are far apart. Assign the
// elements to the lanes so that neighbouring lanes read neighbouring elements. (The shuffles that
// add up the 32 partial sums come later in the day. Leave them as they are.)

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

// hint 1: In each iteration of the loop, all 32 lanes load at the same time. Which 32 elements
// hint 1: should they load?
// hint 2: Iteration i loads elements 32 i to 32 i + 31, and lane l loads the l-th of them.
// why: Each element is still summed once, only by another lane. But now the 32 elements that are
// why: loaded together occupy 4 sectors instead of 32.
// told: counted more than once
// told 2: iteration i begins at element 32 i
