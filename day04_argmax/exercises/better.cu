// Exercise 1 of Day 04: which of two candidates wins.
//
// Tiny, 5 minutes.
//
// Does element a, at index at_a, beat element b, at index at_b? The larger element wins. Of equal
// elements the one with the lower index wins. A NaN beats every number, and of two NaNs the one
// with the lower index wins. The kernel below compares the elements of a row in no particular
// order, so the rule alone must decide.

__device__ bool wins(float a, int at_a, float b, int at_b) {
    // your code
    // stub: return false;
    // wrong: return a > b || (a == b && at_a < at_b);
    // wrong 2: return a > b || (a != a && b == b) || (a == b && at_a < at_b);
    // wrong 3: if (a != a) return b == b || at_a < at_b;
    // wrong 3: return a >= b && at_a < at_b;
    // wrong 4: if (a != a) return at_a < at_b;
    // wrong 4: return a > b || (a == b && at_a < at_b);
    const bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && a != b) return a > b;
    return at_a < at_b;
    // end of your code
}

__global__ void better_kernel(const float* in, int M, int N, int* out) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M) return;
    int best = N / 2;
    for (int i = 1; i < N; ++i) {
        const int n = (N / 2 + 7 * i) % N;  // N is no multiple of 7
        if (wins(in[m * N + n], n, in[m * N + best], best)) best = n;
    }
    out[m] = best;
}

void better(const float* in, int M, int N, int* out) {
    better_kernel<<<1, 32>>>(in, M, N, out);
}

// hint 1: A NaN is the only value that is not equal to itself: x != x. Every other comparison with
// hint 1: a NaN is false.
// hint 2: Ask three questions in order. Is exactly one of them a NaN? If neither is, do they
// hint 2: differ? Otherwise the index decides.
// why: Because the index is part of the rule, no two candidates are ever equal. One of them always
// why: wins, and the result does not depend on the order of comparisons. This lets threads share
// why: the work.
// told: A NaN beats every number
// told 2: The row is nan nan nan 1
// told 3: The row is 1 2 3 9
// told 4: The row is 1 2 3 nan
