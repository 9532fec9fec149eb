// Exercise 4 of Day 01: row and column from an offset.
//
// Tiny, 5 minutes.
//
// A matrix of M rows and N columns is stored in row-major order. Thread i owns the element at
// offset i. Let it write 1000 * row + column there.
//
//     M = 2, N = 3:    0    1    2
//                   1000 1001 1002

__global__ void rows_columns_kernel(int M, int N, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N) {
        // your code
        // stub: const int row = 0, column = i;
        // wrong: const int row = i / M, column = i % M;
        const int row = i / N, column = i % N;
        // wrong 2: const int row = i / N, column = i - row;
        // end of your code
        out[i] = 1000 * row + column;
    }
}

void rows_columns(int M, int N, int* out) {
    rows_columns_kernel<<<(M * N + 255) / 256, 256>>>(M, N, out);
}

// hint 1: offset = row * N + column, and column is less than N. How do you recover row from the
// hint 1: offset?
// hint 2: Use division and remainder, / and %, by the same number.
// why: Each row has N elements, so i / N complete rows precede this element. The remainder is its
// why: position within the row. The number of rows does not matter.
// told: you divided by M
// told 2: The rows are right, the columns are not
