// Exercise 5 of Day 06: broadcast a warp's sum.
//
// Tiny, 5 minutes.
//
// Page: docs/day06_transformer_ops_fast.md
//
// RMS norm of rows of 32 numbers, with one warp per row: out = x / sqrt(mean of all x * x). The
// shuffles leave the complete sum in lane 0 only. Give it to every lane.

__global__ void whole_row_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const float x = in[blockIdx.x * 32 + lane];
    float sum = x * x;
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xffffffff, sum, far);
    // your code: __shfl_sync(0xffffffff, value, j) returns lane j's value
    // stub:
    // wrong: sum = __shfl_sync(0xffffffff, sum, lane);
    // wrong 2: if (lane > 0) sum = __shfl_sync(0xffffffff, sum, 0);
    // wrong 3: __shfl_sync(0xffffffff, sum, 0);
    // wrong 4: if (lane != 0) return;
    sum = __shfl_sync(0xffffffff, sum, 0);
    // wrong 5: sum = __shfl_sync(0xffffffff, sum, 31);
    // wrong 6: if (lane == 0) sum = __shfl_sync(0xffffffff, sum, 0);
    // end of your code
    out[blockIdx.x * 32 + lane] = x / sqrtf(sum / 32);
}

void whole_row(const float* in, int M, float* out) {
    whole_row_kernel<<<M, 32>>>(in, out);
}

// hint 1: All lanes must execute the shuffle, including the one that provides the value.
// hint 2: One line: set sum to what lane 0 holds.
// why: __shfl_sync broadcasts one lane's value. A butterfly, with __shfl_xor_sync in place of
// why: __shfl_down_sync, would have left the sum in every lane after the same number of rounds.
// told: Every lane kept its own partial sum
// told 2: lane 0
// told 3: is what it returns not stored
// told 4: Only lane 0 wrote
// told 5: the whole sum is in lane 0
// told 6: no shuffle may be inside an `if`
