// Exercise 2 of Day 02: reverse an array by its stride.
//
// Tiny, 3 minutes.
//
// This is the same kernel as before. Let it write the n elements of `in` in reverse order: choose
// the pointer and the stride, and leave the kernel unchanged.
//
//     in = 1 2 3 4    out = 4 3 2 1

__global__ void backwards_kernel(const float* first, int step, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = first[i * step];
}

void backwards(const float* in, int n, float* out) {
    // your code
    // stub: const float* first = in;
    // stub: const int step = 1;
    // wrong: const float* first = in + n;
    // wrong: const int step = -1;
    const float* first = in + n - 1;
    const int step = -1;
    // end of your code
    backwards_kernel<<<(n + 63) / 64, 64>>>(first, step, n, out);
}

// hint 1: A stride may be negative. Which element of in does out[0] get?
// hint 2: The pointer addresses the last element. Elements are numbered from 0, so what is its
// hint 2: index?
// why: Index 0 of the reversed view is element n - 1, and each increment of the index moves one
// why: element back: stride -1. in + n would be one past the end.
// told: one past its end
