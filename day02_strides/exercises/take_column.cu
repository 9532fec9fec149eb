// Exercise 1 of Day 02: copy a column by pointer and stride.
//
// Tiny, 3 minutes.
//
// The kernel copies M elements that are `step` elements apart, starting at `first`. in is a
// row-major matrix of M rows and N columns. Choose pointer and stride so that the kernel copies
// column n.

__global__ void take_column_kernel(const float* first, int step, int M, float* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < M) out[m] = first[m * step];
}

void take_column(const float* in, int M, int N, int n, float* out) {
    // your code: where does the column begin, and what is its stride?
    // stub: const float* first = in;
    // stub: const int step = 1;
    // wrong: const float* first = in + n;
    // wrong: const int step = 1;
    const float* first = in + n;
    const int step = N;
    // wrong 2: const float* first = in + n;
    // wrong 2: const int step = M;
    // end of your code
    take_column_kernel<<<(M + 63) / 64, 64>>>(first, step, M, out);
}

// hint 1: Element (0, n) has n elements before it. At which offset is (1, n)?
// hint 2: The next row is N elements further along in memory.
// why: The column begins n elements into row 0, and its stride is N because each row has N
// why: elements. The kernel knows nothing of rows and columns. Pointer and stride describe the
// why: column completely.
// told: you copied a piece of a row
// told 2: gets in[3 m + 2]; it should get in[4 m + 2]
