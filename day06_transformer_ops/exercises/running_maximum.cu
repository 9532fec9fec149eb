// Exercise 5 of Day 06: the running maximum.
//
// Easy, 15 minutes.
//
// The sum of a softmax, but each number may be looked at once only: out[m] gets log(exp(x0) +
// exp(x1) + ...) of its row, in one pass. Keep the largest so far and the sum of
// exp(x - largest so far). When a larger one comes, what has been summed up must be put right.
//
//     row 0, log 4: largest 0, sum 1; largest log 4, sum 1/4 + 1; answer log 4 + log 1.25 = log 5

__global__ void running_maximum_kernel(const float* in, int M, int N, float* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M) return;
    const float* row = in + m * N;
    float largest = -INFINITY, sum = 0;
    for (int n = 0; n < N; ++n) {
        const float x = row[n];
        // your code
        // stub: sum += 0 * x;
        // wrong: largest = fmaxf(largest, x);
        // wrong: sum += expf(x - largest);
        // wrong 2: const float larger = fmaxf(largest, x);
        // wrong 2: sum = sum * expf(larger - largest) + expf(x - larger);
        // wrong 2: largest = larger;
        // wrong 3: const float old = largest;
        // wrong 3: largest = fmaxf(largest, x);
        // wrong 3: sum = sum * (old - largest) + expf(x - largest);
        // wrong 4: if (x > largest) {
        // wrong 4:     sum *= expf(largest - x);
        // wrong 4:     largest = x;
        // wrong 4: } else {
        // wrong 4:     sum += expf(x - largest);
        // wrong 4: }
        // wrong 5: if (x > largest) {
        // wrong 5:     sum = 1;
        // wrong 5:     largest = x;
        // wrong 5: } else {
        // wrong 5:     sum += expf(x - largest);
        // wrong 5: }
        // wrong 6: const float larger = fmaxf(largest, x);
        // wrong 6: sum = sum * expf(largest - larger) + expf(x - larger);
        // wrong 6: largest = x;
        // wrong 7: largest = fmaxf(largest, x);
        // wrong 7: sum += expf(x);
        // wrong 8: const float larger = fmaxf(largest, x);
        // wrong 8: sum = sum * expf(largest - larger) + expf(x);
        // wrong 8: largest = larger;
        const float larger = fmaxf(largest, x);
        sum = sum * expf(largest - larger) + expf(x - larger);
        largest = larger;
        // end of your code
    }
    out[m] = largest + logf(sum);
}

void running_maximum(const float* in, int M, int N, float* out) {
    running_maximum_kernel<<<(M + 31) / 32, 32>>>(in, M, N, out);
}

// hint 1: The sum so far consists of exp(x_i - old). You want exp(x_i - new). By what must each
// hint 1: be multiplied?
// hint 2: All by the same: exp(old - new). If no larger one came, that is exp(0) = 1, so it needs
// hint 2: no if.
// hint 3: const float larger = fmaxf(largest, x); then sum = sum * expf(largest - larger) +
// hint 3: expf(x - larger); then largest = larger;
// why: After each step the sum is what it would be had the largest so far been known from the
// why: start. At first exp(-INFINITY - x) = 0 multiplies a sum of 0. One pass instead of two:
// why: attention lives on it.
// told: was not put right
// told 2: exponent's sign turned
// told 3: or is exp missing
// told 4: The new largest was not added itself
// told 5: What was summed up before is gone
// told 6: largest became x
// told 7: exp was asked of x itself
// told 8: exp was asked of x itself
