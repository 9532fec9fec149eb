// Exercise 4 of Day 06: one row of attention.
//
// Medium, 20 minutes.
//
// qkv has T rows of 3 C numbers, as in one_head. A thread computes the output of token t and head
// h, D = C / H numbers:
//
//     1. the scores: the query of t times the keys of tokens 0 to t, divided by sqrt(D)
//     2. their softmax, also for scores such as 1000
//     3. the values of tokens 0 to t, each times its weight, added up
//
// out has shape (T, C), and head h of token t begins at t * C + h * D. score has room for the T
// scores of this thread. (Use sqrtf, expf and fmaxf.)

__global__ void attention_row_kernel(const float* qkv, int T, int C, int H, float* scores,
                                     float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= T * H) return;
    const int t = i / H, h = i % H, D = C / H;
    float* score = scores + i * T;
    // your code
    const float* q = qkv + t * 3 * C + h * D;
    float largest = -INFINITY, sum = 0;
    for (int s = 0; s <= t; ++s) {
        const float* k = qkv + s * 3 * C + C + h * D;
        float dot = 0;
        for (int d = 0; d < D; ++d) dot += q[d] * k[d];
        score[s] = dot / sqrtf(static_cast<float>(D));
        largest = fmaxf(largest, score[s]);
    }
    for (int s = 0; s <= t; ++s) {
        score[s] = expf(score[s] - largest);
        sum += score[s];
    }
    for (int d = 0; d < D; ++d) {
        float x = 0;
        for (int s = 0; s <= t; ++s) x += score[s] * qkv[s * 3 * C + 2 * C + h * D + d];
        out[t * C + h * D + d] = x / sum;
    }
    // wrong 12356789: const float* q = qkv + t * 3 * C + h * D;
    // wrong 4: const float* q = qkv + t * C + h * D;
    // wrong 12345678: float largest = -INFINITY, sum = 0;
    // wrong 9: float largest = 0, sum = 0;
    // wrong 1: const int n = T;
    // wrong 23456789: const int n = t + 1;
    // wrong 123456789: for (int s = 0; s < n; ++s) {
    // wrong 12356789:     const float* k = qkv + s * 3 * C + C + h * D;
    // wrong 4:     const float* k = qkv + (T + s) * C + h * D;
    // wrong 123456789:     float dot = 0;
    // wrong 123456789:     for (int d = 0; d < D; ++d) dot += q[d] * k[d];
    // wrong 13456789:     score[s] = dot / sqrtf(static_cast<float>(D));
    // wrong 2:     score[s] = dot / sqrtf(static_cast<float>(C));
    // wrong 12346789:     largest = fmaxf(largest, score[s]);
    // wrong 5:     largest = 0;
    // wrong 123456789: }
    // wrong 123456789: for (int s = 0; s < n; ++s) {
    // wrong 123456789:     score[s] = expf(score[s] - largest);
    // wrong 123456789:     sum += score[s];
    // wrong 123456789: }
    // wrong 6: float x = 0;
    // wrong 123456789: for (int d = 0; d < D; ++d) {
    // wrong 12345789:     float x = 0;
    // wrong 123456789:     for (int s = 0; s < n; ++s)
    // wrong 1256789:         x += score[s] * qkv[s * 3 * C + 2 * C + h * D + d];
    // wrong 3:         x += score[s] * qkv[s * 3 * C + 2 * C + d];
    // wrong 4:         x += score[s] * qkv[(2 * T + s) * C + h * D + d];
    // wrong 1234569:     out[t * C + h * D + d] = x / sum;
    // wrong 7:     out[t * C + h * D + d] = x;
    // wrong 8:     out[(h * T + t) * D + d] = x / sum;
    // wrong 123456789: }
    // end of your code
}

void attention_row(const float* qkv, int T, int C, int H, float* scores, float* out) {
    attention_row_kernel<<<(T * H + 31) / 32, 32>>>(qkv, T, C, H, scores, out);
}

// hint 1: The query of token t and head h begins at qkv + t * 3 * C + h * D. The key of token s
// hint 1: begins C numbers into row s, plus h * D, and the value 2 C numbers, plus h * D.
// hint 2: Four loops: the scores with their largest; the exponentials exp(score - largest) with
// hint 2: their sum; and over d, the sum over s of score[s] times the value. s runs from 0 to t.
// hint 3: for (int s = 0; s <= t; ++s) x += score[s] * qkv[s * 3 * C + 2 * C + h * D + d];
// hint 3: out[t * C + h * D + d] = x / sum;
// why: The softmax's sum divides every term alike, so one division per number at the end is enough.
// why: Scores are stored because their largest must be known before the first exponential: a row
// why: of T numbers per thread. The next page's online softmax needs no such row. Neighbouring
// why: threads are heads of one token here, whose queries are adjacent.
// told: attends to later tokens
// told 2: divided by sqrt(C)
// told 3: the values of head 0
// told 4: as if all queries came first
// told 5: Nothing was subtracted
// told 6: set the sum to 0 for each d
// told 7: division by the sum is missing
// told 8: heads before tokens
// told 9: start the search for it with -INFINITY
