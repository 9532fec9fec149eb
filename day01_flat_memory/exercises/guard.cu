// Exercise 1 of Day 01: a guard.
//
// Tiny, 3 minutes.
//
// Each thread computes one element, out[i] = 3 * in[i]. The launch rounds the number of threads up
// to whole blocks of 256, but n may be any number. Make the surplus threads touch nothing.

__global__ void guard_kernel(const float* in, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // your code
    // stub: out[i] = 3 * in[i];
    // wrong: if (i <= n) out[i] = 3 * in[i];
    if (i < n) out[i] = 3 * in[i];
    // wrong 2: const int j = i < n ? i : n - 1;
    // wrong 2: out[j] = 3 * in[j];
    // wrong 3: if (static_cast<int>(blockIdx.x) < n / 256) out[i] = 3 * in[i];
    // wrong 4: if (static_cast<int>(threadIdx.x) < n) out[i] = 3 * in[i];
    // wrong 5: for (int j = i; j < n; ++j) out[j] = 3 * in[j];
    // end of your code
}

void guard(const float* in, int n, float* out) {
    const int blocks = (n + 255) / 256;  // rounded up
    guard_kernel<<<blocks, 256>>>(in, n, out);
}

// hint 1: With n = 1,000 there are 4 blocks, which is 1,024 threads. Which values of i have no
// hint 1: element?
// hint 2: Elements are numbered from 0 to n - 1. One `if` in front of the statement is enough.
// why: Blocks come in whole pieces, so the last block may have surplus threads. Each thread checks
// why: that its element exists before it touches memory. The condition is i < n: element n is one
// why: past the end.
// told: one past its end
// told 2: must not touch memory
// told 3: Only the first 768 are written
// told 5: Is there a loop where an `if` suffices
// told 4: The guard compares i with n
