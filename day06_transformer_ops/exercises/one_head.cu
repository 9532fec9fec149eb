// Exercise 1 of Day 06: find one head in Q, K and V.
//
// Tiny, 5 minutes.
//
// qkv has T rows of 3 C numbers. Each row holds one token's query, then its key, then its value,
// with C numbers each. Each of the three consists of H heads of D = C / H numbers. Copy the keys of
// head h: out has shape (T, D).

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

// hint 1: The offset of a number has four terms: the token's row, the query before the key, the
// hint 1: heads before this one, and the number within the head.
// hint 2: A row has 3 C numbers, the query takes C of them, and each head before this one D.
// why: This is a view with strides (3 C, 1) that begins at C + h D. Heads are never moved in
// why: memory: attention reads them through such views.
// told: as if qkv were
// told 2: are adjacent, and each holds all heads
// told 3: the keys of head 0
