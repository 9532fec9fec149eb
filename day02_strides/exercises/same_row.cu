// Exercise 3 of Day 02: one row, again and again.
//
// Tiny, 4 minutes.
//
// The kernel copies a matrix of M rows and N columns, by one step per dim. in is one row of N
// numbers, no more: let every row of out be this row, without touching the kernel.

__global__ void same_row_kernel(const float* in, int step_m, int step_n, int M, int N, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < N) out[m * N + n] = in[m * step_m + n * step_n];
}

void same_row(const float* in, int M, int N, float* out) {
    // your code: how far is the next row of in, and how far the next column?
    // stub: const int step_m = 1, step_n = 0;
    // wrong: const int step_m = N, step_n = 1;
    const int step_m = 0, step_n = 1;
    // end of your code
    same_row_kernel<<<dim3((N + 31) / 32, M), 32>>>(in, step_m, step_n, M, N, out);
}

// hint 1: A step of N for each row leads to memory that is not there: in has one row. From which
// hint 1: place should row 1 be read?
// hint 2: From the same place as row 0. Which step goes nowhere?
// why: A step of 0 is a broadcast: all M rows of the view are the same N numbers in memory. It is
// why: how a bias is added to every token without being copied.
// told: of an allocation of
