// Exercise 6 of Day 04: lanes without an element.
//
// Tiny, 6 minutes.
//
// A warp sums n numbers, where n is at most 32. What do the lanes without a number do?

__global__ void lanes_without_kernel(const float* in, int n, float* out) {
    const int lane = threadIdx.x;
    // your code: load a number, and sum those of all 32 lanes by shuffles
    // stub: float x = in[lane];
    // wrong: if (lane >= n) return;
    // wrong: float x = in[lane];
    // wrong: for (int bit = 16; bit > 0; bit /= 2) x += __shfl_xor_sync(0xffffffff, x, bit);
    // wrong 2: float x = 0;
    // wrong 2: for (int i = 0; i < n; ++i) x += in[i];
    // wrong 3: float x;
    // wrong 3: if (lane < n) x = in[lane];
    // wrong 3: for (int bit = 16; bit > 0; bit /= 2) x += __shfl_xor_sync(0xffffffff, x, bit);
    // wrong 4: float x = lane < n ? in[lane] : -INFINITY;
    // wrong 4: for (int bit = 16; bit > 0; bit /= 2) x += __shfl_xor_sync(0xffffffff, x, bit);
    float x = lane < n ? in[lane] : 0;
    for (int bit = 16; bit > 0; bit /= 2) x += __shfl_xor_sync(0xffffffff, x, bit);
    // wrong 5: float x = in[lane < n ? lane : n - 1];
    // wrong 5: for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    // wrong 6: float x = lane < n ? in[lane] : 0;
    // wrong 6: for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(n < 32 ? (1u << n) - 1 : ~0u, x, d);
    // end of your code
    if (lane == 0) out[0] = x;
}

void lanes_without(const float* in, int n, float* out) {
    lanes_without_kernel<<<1, 32>>>(in, n, out);
}

// hint 1: A shuffle with mask 0xffffffff waits for all 32 lanes, so no lane may return early. But
// hint 1: the lanes without an element must not load either.
// hint 2: Let them take part with a number that does not change the sum. Then add what
// hint 2: __shfl_xor_sync returns, for bit = 16, 8, 4, 2, 1.
// why: Every lane named in the mask must execute the shuffle, or its partner's result is undefined.
// why: 0 is the identity of a sum. For a maximum the identity would be -INFINITY.
// told: no lane may leave before it
// told 2: loads one number
// told 3: reads its local variable `x`, which has no value yet
// told 4: the identity of a sum, 0, not -INFINITY
// told 5: each added the last number once more
// told 6: its mask, 0xffffffff, names them all
