// Exercise 1 of Day 05: one output per thread.
//
// Tiny, 5 minutes.
//
// c = a b: a is (M, K), b is (K, N) and c is (M, N), all row-major. Each thread computes one
// element of c.

__global__ void one_output_kernel(const float* a, const float* b, int M, int N, int K, float* c) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0;
        // your code
        // stub:
        // wrong: for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[n * K + k];
        for (int k = 0; k < K; ++k) {
            sum += a[m * K + k] * b[k * N + n];
        }
        // wrong 2: for (int k = 0; k < N; ++k) sum += a[m * K + k] * b[k * N + n];
        // wrong 3: for (int k = 0; k < K; ++k) sum += a[m * K + k] + b[k * N + n];
        // wrong 4: int whole = 0;
        // wrong 4: for (int k = 0; k < K; ++k)
        // wrong 4:     whole = static_cast<int>(static_cast<float>(whole) +
        // wrong 4:                              a[m * K + k] * b[k * N + n]);
        // wrong 4: sum = static_cast<float>(whole);
        // end of your code
        c[m * N + n] = sum;
    }
}

void one_output(const float* a, const float* b, int M, int N, int K, float* c) {
    one_output_kernel<<<dim3((N + 31) / 32, (M + 3) / 4), dim3(32, 4)>>>(a, b, M, N, K, c);
}

// hint 1: c(m, n) is the sum of a(m, k) b(k, n) over all k. What are the offsets of these two
// hint 1: elements?
// hint 2: A row of a has K numbers, so the offset of a(m, k) is m K + k. A row of b has N numbers.
// why: The sum over k is the only loop that remains. The outputs are independent, so m and n became
// why: threads. One step of k is one element in a and a whole row in b.
// told: as if it were (N, K)
// told 2: takes a[5 m + k] for k = 0 to 2
// told 4: Is the sum kept in an int
// told 3: are the numbers multiplied, a * b
