// Exercise 2 of Day 06: softmax without overflow.
//
// Tiny, 6 minutes.
//
// A thread computes the softmax of a row of N numbers: out[n] = exp(in[n]) / sum of all exp(in[i]).
// It must also be correct for numbers such as 100, whose exponential overflows float. (Use expf and
// fmaxf.)

__global__ void stable_softmax_kernel(const float* in, int M, int N, float* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M) return;
    const float* row = in + m * N;
    // your code: three loops
    // stub:
    // wrong: float sum = 0;
    // wrong: for (int n = 0; n < N; ++n) sum += expf(row[n]);
    // wrong: for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n]) / sum;
    // wrong 2: float largest = 0, sum = 0;
    // wrong 2: for (int n = 0; n < N; ++n) largest = fmaxf(largest, row[n]);
    // wrong 2: for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
    // wrong 2: for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n] - largest) / sum;
    // wrong 3: float largest = row[0], sum = 0;
    // wrong 3: for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
    // wrong 3: for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
    // wrong 3: for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n]) / sum;
    // wrong 4: float largest = row[0], sum = 0;
    // wrong 4: for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
    // wrong 4: for (int n = 0; n < N; ++n) {
    // wrong 4:     const float e = expf(row[n] - largest);
    // wrong 4:     sum += e, out[m * N + n] = e / sum;
    // wrong 4: }
    float largest = row[0], sum = 0;
    for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
    for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
    for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n] - largest) / sum;
    // wrong 6: float largest = 0, sum = 0;
    // wrong 6: for (int n = 0; n < N; ++n) largest = fmaxf(largest, fabsf(row[n]));
    // wrong 6: for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
    // wrong 6: for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n] - largest) / sum;
    // wrong 5: float largest = row[0], sum;
    // wrong 5: for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
    // wrong 5: for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
    // wrong 5: for (int n = 0; n < N; ++n) out[m * N + n] = expf(row[n] - largest) / sum;
    // end of your code
}

void stable_softmax(const float* in, int M, int N, float* out) {
    stable_softmax_kernel<<<(M + 31) / 32, 32>>>(in, M, N, out);
}

// hint 1: exp(x - c) = exp(x) / exp(c). What happens to the fraction if you subtract c from every
// hint 1: number?
// hint 2: Nothing. Which c guarantees that no exponential exceeds 1?
// why: The largest number becomes exp(0) = 1, and all others are smaller. Nothing overflows, and
// why: the sum is at least 1.
// told: Nothing was subtracted
// told 2: Does the search for the maximum start at 0
// told 3: subtracted only in the sum
// told 4: before the sum was complete
// told 6: or take absolute values
// told 5: reads its local variable `sum`, which has no value yet
