// Exercise 1 of Day 03: a slice.
//
// Tiny, 4 minutes.
//
// in is a matrix of M rows and N columns (N is even), row after row. The kernel copies any
// matrix, given a pointer, the number of columns and how far the next row is. Let it copy the
// right half of in.

__global__ void right_half_kernel(const float* in, int columns, int row_step, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < columns) out[m * columns + n] = in[m * row_step + n];
}

void right_half(const float* in, int M, int N, float* out) {
    // your code: the view: pointer, extent and stride
    // stub: const float* first = in;
    // stub: const int columns = N, row_step = N;
    // wrong: const float* first = in + N / 2;
    // wrong: const int columns = N / 2, row_step = N / 2;
    const float* first = in + N / 2;
    const int columns = N / 2, row_step = N;
    // end of your code
    right_half_kernel<<<dim3((columns + 31) / 32, M), 32>>>(first, columns, row_step, out);
}

// hint 1: A slice moves the pointer and makes an extent smaller. What does it do to the strides?
// hint 2: Nothing: the next row lies where it always did, N further on.
// why: Memory has not changed, only what is looked at. Pointer and extent are new, strides stay.
// told: a slice leaves the strides
