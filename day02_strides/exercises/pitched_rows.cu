// Exercise 4 of Day 02: rows with room after them.
//
// Tiny, 4 minutes.
//
// in has M rows of N numbers, but each row begins `pitch` elements after the one before, and
// pitch may be more than N: what lies in between is nobody's. Pack the rows into out, without
// gaps.

__global__ void pitched_rows_kernel(const float* in, int pitch, int M, int N, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < N) {
        // your code
        // stub: out[n] = in[n];
        // wrong: out[m * N + n] = in[m * N + n];
        out[m * N + n] = in[m * pitch + n];
        // wrong 2: out[m * pitch + n] = in[m * pitch + n];
        // wrong 3: out[m * pitch + n] = in[m * N + n];
        // end of your code
    }
}

void pitched_rows(const float* in, int pitch, int M, int N, float* out) {
    pitched_rows_kernel<<<dim3((N + 31) / 32, M), 32>>>(in, pitch, M, N, out);
}

// hint 1: How far is the next row in in, and how far in out?
// hint 2: pitch in in, N in out: a multiplication by a step of its own on each side.
// why: The width says how many numbers of a row count, the pitch how far the next row is. The two
// why: are equal only where rows have no gaps, as in out.
// told: pitch apart
// told 2: is written to out[6 m + n]; its place is out[4 m + n]
// told 3: it should be out[4 m + n] that gets in[6 m + n]
