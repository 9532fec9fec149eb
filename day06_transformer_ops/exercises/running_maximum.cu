// Exercise 6 of Day 06: online softmax: log-sum-exp in one pass.
//
// Easy, 15 minutes.
//
// Page: docs/day06_transformer_ops_fast.md
//
// Compute the log-sum-exp of every row in a single pass that reads each number once: out[m] is
// log(exp(x0) + exp(x1) + ...). Keep the running maximum and the running sum of exp(x - maximum).
// When a larger number arrives, rescale the sum.
//
//     row 0, log 4: maximum 0, sum 1; maximum log 4, sum 1/4 + 1; result log 4 + log 1.25 = log 5

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
        // wrong 9: const float larger = fmaxf(largest, x);
        // wrong 9: sum = sum * expf(largest - larger) + expf(x - largest);
        // wrong 9: largest = larger;
        // wrong 7: largest = fmaxf(largest, x);
        // wrong 7: sum += expf(x);
        // wrong 8: sum = sum * expf(largest - x) + 1;
        // wrong 8: largest = x;
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

// hint 1: The sum so far consists of terms exp(x_i - old). You need exp(x_i - new). By what factor
// hint 1: must you multiply each term?
// hint 2: All terms by the same factor: exp(old - new). If the maximum did not change, that is
// hint 2: exp(0) = 1, so no `if` is needed.
// hint 3: const float larger = fmaxf(largest, x); then sum = sum * expf(largest - larger) + expf(x
// hint 3: - larger); then largest = larger;
// why: After each step, the sum is what it would be if the running maximum had been known from the
// why: start. In the first step exp(-INFINITY - x) = 0 multiplies a sum of 0. One pass replaces
// why: two. Flash attention is built on this.
// told: was not rescaled
// told 2: exponent have the wrong sign
// told 3: or is exp missing
// told 4: The new maximum itself was not added
// told 5: The earlier sum is lost
// told 6: largest was set to x
// told 7: exp was applied to x itself
// told 8: The row is 500 0
// told 9: Is the new term exp(x - old largest)
