// Exercise 1 of Day 02: a column, by a pointer and a step.
//
// Tiny, 3 minutes.
//
// The kernel copies M elements that lie `step` apart, the first of them at `first`. in is a
// matrix of M rows and N columns, row after row. Let the kernel copy column n.

__global__ void take_column_kernel(const float* first, int step, int M, float* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < M) out[m] = first[m * step];
}

void take_column(const float* in, int M, int N, int n, float* out) {
    // your code: where does the column begin, and how far is its next element?
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

// hint 1: Element (0, n) has n elements before it. And where does (1, n) lie?
// hint 2: One row further down is N elements further on.
// why: The column begins n elements into row 0, and each row takes N. The kernel knows nothing of
// why: rows and columns: pointer and step say it all.
// told: you copied a piece of a row
// told 2: gets in[3 m + 2]; it should get in[4 m + 2]
