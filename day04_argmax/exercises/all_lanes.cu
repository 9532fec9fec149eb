// Exercise 5 of Day 04: a shuffle.
//
// Tiny, 6 minutes.
//
// Each lane of a warp has one number. Let every lane get the largest of all 32, in five rounds:
// in each, a lane looks at the number that another lane has by now.
//
// __shfl_xor_sync(0xffffffff, x, bit) is the x of the lane whose number differs from mine in this
// bit.

__global__ void all_lanes_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x = in[lane];
    // your code: fmaxf(a, b) is the larger of two
    // stub:
    // wrong: for (int bit = 1; bit < 16; bit *= 2)
    // wrong: x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, bit));
    for (int bit = 16; bit > 0; bit /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, x, bit);
        x = fmaxf(x, other);
    }
    // end of your code
    out[lane] = x;
}

void all_lanes(const float* in, float* out) {
    all_lanes_kernel<<<1, 32>>>(in, out);
}

// hint 1: After a round with bit 1, lanes 0 and 1 both know the larger of the two, and so do 2
// hint 1: and 3. With bit 2, lane 0 meets lane 2: then four lanes know the largest of four.
// hint 2: Lane numbers have five bits: 1, 2, 4, 8 and 16, each once, in any order.
// why: Each round doubles the number of lanes whose numbers a lane has heard of: 2, 4, 8, 16, 32.
// why: Every lane ends with the same.
// told: of a half only
