// Exercise 2 of Day 03: a transposed view.
//
// Tiny, 3 minutes.
//
// The kernel writes a row-major matrix of `rows` x `columns` from any view, given by a pointer and
// two strides. in is a row-major matrix of M rows and N columns. Let out be its transpose: N rows
// and M columns.

__global__ void turned_kernel(const float* in, int row_step, int column_step, int columns,
                              float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < columns) out[m * columns + n] = in[m * row_step + n * column_step];
}

void turned(const float* in, int M, int N, float* out) {
    // your code: extents and strides of the view, not of in
    // stub: const int rows = 1, columns = 1, row_step = 0, column_step = 0;
    // wrong: const int rows = N, columns = M, row_step = M, column_step = 1;
    const int rows = N, columns = M, row_step = 1, column_step = N;
    // wrong 2: const int rows = M, columns = N, row_step = 1, column_step = N;
    // end of your code
    turned_kernel<<<dim3((columns + 31) / 32, rows), 32>>>(in, row_step, column_step, columns, out);
}

// hint 1: A row of the view is a column of in. How far apart are the elements of a column of in?
// hint 2: Take the extents (M, N) and the strides (N, 1) of in, and swap both pairs.
// why: (M, N) with strides (N, 1) becomes (N, M) with strides (1, N). Swapping only the extents
// why: would be a reshape: the same sequence in memory, cut into rows of another length.
// told: The extents are swapped, but the strides are not
// told 2: is filled as if it had the shape (2, 3)
