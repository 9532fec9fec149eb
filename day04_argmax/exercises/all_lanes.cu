// Exercise 5 of Day 04: a shuffle.
//
// Tiny, 6 minutes.
//
// Each lane of a warp has one number. Let every lane get the largest of all 32, in five rounds:
// in each, a lane looks at the number that another lane has by now.
//
// __shfl_xor_sync(0xffffffff, x, d) is the x of the lane whose number differs from mine in one
// binary digit, that of d: d = 1, 2, 4, 8 and 16, in any order.

__global__ void all_lanes_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x = in[lane];
    // your code: fmaxf(a, b) is the larger of two
    // stub:
    // wrong: for (int d = 1; d < 16; d *= 2)
    // wrong: x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, d));
    // wrong 2: for (int bit = 0; bit < 5; ++bit) {
    // wrong 2: x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, bit));
    // wrong 2: }
    // wrong 3: for (int d = 16; d > 0; d /= 2) {
    // wrong 3: if (lane < d) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, d));
    // wrong 3: }
    // wrong 4: for (int k = 0; k < 32; ++k) x = fmaxf(x, in[k]);
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, x, d);
        x = fmaxf(x, other);
    }
    // wrong 5: for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_down_sync(0xffffffff, x, d));
    // end of your code
    out[lane] = x;
}

void all_lanes(const float* in, float* out) {
    all_lanes_kernel<<<1, 32>>>(in, out);
}

// hint 1: After a round with d = 1, lanes 0 and 1 both know the larger of the two, and so do 2
// hint 1: and 3. With d = 2, lane 0 meets lane 2: then four lanes know the largest of four.
// hint 2: A loop over d, outside of any if: all 32 lanes make all five shuffles.
// why: Each round doubles the number of lanes whose numbers a lane has heard of: 2, 4, 8, 16, 32.
// why: Every lane ends with the same.
// told: of a half only
// told 2: not its number
// told 3: none may stand inside of an `if`
// told 4: loads one number
// told 5: lets numbers move one way only
