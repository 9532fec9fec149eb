// Exercise 3 of Day 01: one channel of every token.
//
// Tiny, 5 minutes.
//
// in is a tensor of shape (B, T, C), as on the page: B sequences of T tokens with C channels. The
// last dimension varies fastest. out has shape (B, T) and gets channel c of every token.
//
//     B = 1, T = 2, C = 3, c = 1:    in = 10 11 12 | 20 21 22    out = 11 21

__global__ void channel_kernel(const float* in, int B, int T, int C, int c, float* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = blockIdx.y;
    if (t < T) {
        // your code
        // stub: out[t] = in[t];
        // wrong: out[b * T + t] = in[(b * C + t) * T + c];
        out[b * T + t] = in[(b * T + t) * C + c];
        // wrong 2: out[b * T + t] = in[(b * C + c) * T + t];
        // end of your code
    }
}

void channel(const float* in, int B, int T, int C, int c, float* out) {
    channel_kernel<<<dim3((T + 31) / 32, B), 32>>>(in, B, T, C, c, out);
}

// hint 1: Find the stride of every dimension. In `in`, c has stride 1. What are the strides of t
// hint 1: and b? And what are the strides of `out`?
// hint 2: Multiply each index by its stride and add: b * T * C + t * C + c in `in`, and b * T + t
// hint 2: in `out`.
// why: The stride of a dimension is the product of all extents to its right. (b * T + t) * C + c is
// why: the same offset with one multiplication less. `out` has no dimension c, so t has stride 1
// why: there.
// told: it should get in[3 t + 1]
// told 2: gets in[t + 2]; it should get in[3 t + 1]
