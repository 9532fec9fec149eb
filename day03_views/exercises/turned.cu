// Exercise 2 of Day 03: a transpose without a move.
//
// Tiny, 3 minutes.
//
// The kernel makes a matrix of `rows` x `columns`, row after row, from any view: a pointer and
// two steps. in has M rows and N columns, row after row. Let out be its transpose, N rows and M
// columns.

__global__ void turned_kernel(const float* in, int row_step, int column_step, int columns,
                              float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < columns) out[m * columns + n] = in[m * row_step + n * column_step];
}

void turned(const float* in, int M, int N, float* out) {
    // your code: of the view, not of in
    // stub: const int rows = 1, columns = 1, row_step = 0, column_step = 0;
    // wrong: const int rows = N, columns = M, row_step = M, column_step = 1;
    const int rows = N, columns = M, row_step = 1, column_step = N;
    // wrong 2: const int rows = M, columns = N, row_step = 1, column_step = N;
    // end of your code
    turned_kernel<<<dim3((columns + 31) / 32, rows), 32>>>(in, row_step, column_step, columns, out);
}

// hint 1: A row of the view is a column of in. How far apart are the elements of a column of in?
// hint 2: Take the extents (M, N) and steps (N, 1) of in, and exchange both pairs.
// why: (M, N) with steps (N, 1) becomes (N, M) with steps (1, N). Extents alone would only cut
// why: the same run of memory into other rows.
// told: Extents are exchanged, steps are not
// told 2: is filled as if it had the shape (2, 3)
