// Exercise 4 of Day 06: the sum for every lane.
//
// Tiny, 5 minutes.
//
// RMS norm of rows of 32 numbers, a warp a row: out = x / sqrt(mean of all x * x). The shuffles
// bring the sum to lane 0 only. Let every lane have it.

__global__ void whole_row_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const float x = in[blockIdx.x * 32 + lane];
    float sum = x * x;
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xffffffff, sum, far);
    // your code: __shfl_sync(0xffffffff, value, j) is the value that lane j has
    // stub:
    // wrong: sum = __shfl_sync(0xffffffff, sum, lane);
    // wrong 2: if (lane > 0) sum = __shfl_sync(0xffffffff, sum, 0);
    // wrong 3: __shfl_sync(0xffffffff, sum, 0);
    // wrong 4: if (lane != 0) return;
    sum = __shfl_sync(0xffffffff, sum, 0);
    // wrong 5: sum = __shfl_sync(0xffffffff, sum, 31);
    // end of your code
    out[blockIdx.x * 32 + lane] = x / sqrtf(sum / 32);
}

void whole_row(const float* in, int M, float* out) {
    whole_row_kernel<<<M, 32>>>(in, out);
}

// hint 1: All lanes must call the shuffle, also the one that gives.
// hint 2: One line: sum becomes what lane 0 has.
// why: __shfl_sync hands one lane's value to all. A butterfly, __shfl_xor_sync in place of
// why: __shfl_down_sync, would have left every lane with the sum, in as many rounds.
// told: Every lane kept its own number
// told 2: lane 0
// told 3: And was what it returns kept
// told 4: Only lane 0 has written
// told 5: the whole sum is in lane 0
