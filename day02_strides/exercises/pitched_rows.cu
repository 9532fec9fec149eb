// Exercise 4 of Day 02: rows with a pitch.
//
// Tiny, 4 minutes.
//
// in has M rows of N numbers. Each row begins `pitch` elements after the previous one. pitch may be
// larger than N, and the elements in between are padding. Pack the rows into out without gaps.

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

// hint 1: What is the stride between rows in in? And in out?
// hint 2: pitch in in, and N in out: each side multiplies m by its own stride.
// why: The width is the number of elements in a row, and the pitch is the stride between rows. The
// why: two are equal only where rows have no padding, as in out.
// told: Rows of in are pitch elements apart
// told 2: is written to out[6 m + n]; its place is out[4 m + n]
// told 3: it should be out[4 m + n] that gets in[6 m + n]
