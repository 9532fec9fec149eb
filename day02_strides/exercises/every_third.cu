// Exercise 5 of Day 02: every third element.
//
// Tiny, 5 minutes.
//
// out gets in[1], in[4], in[7] and so on, as long as the n elements of `in` contain them. How many
// are there? (n is at least 2.)

__global__ void every_third_kernel(const float* first, int step, int count, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = first[i * step];
}

void every_third(const float* in, int n, float* out) {
    // your code
    // stub: const float* first = in;
    // stub: const int step = 1, count = 1;
    // wrong: const float* first = in + 1;
    // wrong: const int step = 3, count = n / 3;
    const float* first = in + 1;
    const int step = 3, count = (n - 1 + 2) / 3;
    // wrong 2: const float* first = in + 1;
    // wrong 2: const int step = 3, count = (n + 2) / 3;
    // end of your code
    every_third_kernel<<<(count + 63) / 64, 64>>>(first, step, count, out);
}

// hint 1: n - 1 elements follow in[0]. Try n = 2, 4 and 5 on paper: 1, 1 and 2 of them are taken.
// hint 2: Every third of n - 1 elements, the first included: (n - 1) / 3, rounded up.
// why: A last, incomplete group of one or two elements still contributes its first element, so the
// why: division rounds up. This is the slice 1 : n : 3, and its extent is ceil((n - 1) / 3).
// told: the last one is missing
// told 2: 2 elements are written instead of 1
