// Exercise 1 of Day 06: where a head lies.
//
// Tiny, 5 minutes.
//
// qkv has T rows of 3 C numbers: of each token first its query, then its key, then its value, C
// numbers each, and each of these is H heads of D = C / H numbers. Copy the keys of head h: out
// has shape (T, D).

__global__ void one_head_kernel(const float* qkv, int C, int D, int h, float* out) {
    const int d = threadIdx.x, t = blockIdx.x;
    if (d < D) {
        // your code
        // stub: out[d] = qkv[d];
        // wrong: out[t * D + d] = qkv[t * C + h * D + d];
        // wrong 2: out[t * D + d] = qkv[t * 3 * C + h * 3 * D + D + d];
        // wrong 3: out[t * D + d] = qkv[t * 3 * C + C + d];
        out[t * D + d] = qkv[t * 3 * C + C + h * D + d];
        // end of your code
    }
}

void one_head(const float* qkv, int T, int C, int H, int h, float* out) {
    one_head_kernel<<<T, 128>>>(qkv, C, C / H, h, out);
}

// hint 1: Four steps lead to a number: to the token's row, over its query, to the head, to the
// hint 1: number in it.
// hint 2: A row has 3 C numbers, the query takes C of them, and each head before this one D.
// why: It is a view with steps (3 C, 1), which begins at C + h D. No head is ever moved:
// why: attention reads it where it lies.
// told: as if qkv were
// told 2: stand side by side, each with all heads
// told 3: the keys of head 0
