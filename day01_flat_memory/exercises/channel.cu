// Exercise 3 of Day 01: one channel of every token.
//
// Tiny, 5 minutes.
//
// in is a tensor (B, T, C), as on the page: B sequences of T tokens of C channels, the last dim
// fastest. out, of shape (B, T), gets channel c of every token.
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

// hint 1: For each dim ask: how far is the next one along it? In in: c by 1, t by C, b by T * C.
// hint 1: In out?
// hint 2: Multiply each index by its answer and add up: b * T * C + t * C + c in in, and b * T +
// hint 2: t in out.
// why: A step along a dim goes over everything to its right. (b * T + t) * C + c is the same with
// why: one multiplication less. In out there is no c any more, so a step along t is 1 there.
// told: it should get in[3 t + 1]
// told 2: gets in[t + 2]; it should get in[3 t + 1]
