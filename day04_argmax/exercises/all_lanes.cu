// Exercise 5 of Day 04: a warp reduction by shuffles.
//
// Tiny, 6 minutes.
//
// Each lane of a warp has one number. Give every lane the largest of all 32 in five rounds. In each
// round, a lane looks at the number that another lane holds at that time.
//
// __shfl_xor_sync(0xffffffff, x, d) returns the x of the lane whose index differs from mine in one
// bit, that of d. Use d = 1, 2, 4, 8 and 16, in any order.

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

// hint 1: After a round with d = 1, lanes 0 and 1 both know the larger of their two numbers, and so
// hint 1: do lanes 2 and 3. With d = 2, lane 0 is paired with lane 2: then four lanes know the
// hint 1: largest of four.
// hint 2: Write a loop over d, outside of any `if`: all 32 lanes execute all five shuffles.
// why: Each round doubles the number of lanes whose values have reached a lane: 2, 4, 8, 16, 32. At
// why: the end every lane has the same result. This pattern is called a butterfly.
// told: of one half only
// told 2: not its bit number
// told 3: no shuffle may be inside an `if`
// told 4: loads one number
// told 5: moves numbers in one direction only
