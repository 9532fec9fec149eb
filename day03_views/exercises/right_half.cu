// Exercise 1 of Day 03: a slice.
//
// Tiny, 4 minutes.
//
// in is a row-major matrix of M rows and N columns, and N is even. The kernel copies any matrix,
// given a pointer, the number of columns and the row stride. Let it copy the right half of in.

__global__ void right_half_kernel(const float* in, int columns, int row_step, float* out) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (n < columns) out[m * columns + n] = in[m * row_step + n];
}

void right_half(const float* in, int M, int N, float* out) {
    // your code: pointer, extent and stride of the view
    // stub: const float* first = in;
    // stub: const int columns = N, row_step = N;
    // wrong: const float* first = in + N / 2;
    // wrong: const int columns = N / 2, row_step = N / 2;
    const float* first = in + N / 2;
    const int columns = N / 2, row_step = N;
    // end of your code
    right_half_kernel<<<dim3((columns + 31) / 32, M), 32>>>(first, columns, row_step, out);
}

// hint 1: A slice moves the pointer and reduces an extent. What does it do to the strides?
// hint 2: Nothing: the next row is still N elements away.
// why: The memory has not changed, only the part that is read. Pointer and extent are new, and the
// why: strides stay.
// told: a slice leaves the strides
