// Exercise 3 of Day 02: broadcast a row.
//
// Tiny, 4 minutes.
//
// The kernel copies a matrix of M rows and N columns, with one stride per dimension. in is a single
// row of N numbers. Make every row of out a copy of this row without changing the kernel.

__global__ void same_row_kernel(const float* in, int step_m, int step_n, int M, int N, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < N) out[m * N + n] = in[m * step_m + n * step_n];
}

void same_row(const float* in, int M, int N, float* out) {
    // your code: what are the strides between rows and between columns?
    // stub: const int step_m = 1, step_n = 0;
    // wrong: const int step_m = N, step_n = 1;
    const int step_m = 0, step_n = 1;
    // end of your code
    same_row_kernel<<<dim3((N + 31) / 32, M), 32>>>(in, step_m, step_n, M, N, out);
}

// hint 1: A stride of N between rows leads to memory that is not allocated, because in has only one
// hint 1: row. From which address should row 1 be read?
// hint 2: From the same address as row 0. Which stride does not move at all?
// why: A stride of 0 is a broadcast: all M rows of the view are the same N numbers in memory. This
// why: is how a bias is added to every token without being copied.
// told: of an allocation of
