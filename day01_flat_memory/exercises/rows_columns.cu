// Exercise 4 of Day 01: rows and columns back from an offset.
//
// Tiny, 5 minutes.
//
// A matrix of M rows and N columns lies row after row. Thread i has the element at offset i: let it
// write 1000 * row + column there.
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

// hint 1: offset = row * N + column, and column is less than N. How does one get row back from it?
// hint 2: Division and its remainder, / and %, by the same number.
// why: Every row takes N places, so i / N whole rows lie before the element, and what is left
// why: over is its place in its own row. How many rows there are plays no part.
// told: you divided by M
// told 2: The rows are right, the columns are not
