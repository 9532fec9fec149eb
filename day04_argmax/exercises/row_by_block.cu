// Exercise 4 of Day 04: argmax of a row, by a block.
//
// Medium, 30 minutes.
//
// A block of 256 threads finds where the largest element of its row is; the row's length N is
// anything from 1 on. Of equal ones it is the one at the lower place. (No NaN, this time.) Each
// thread first looks through its own share of the row, neighbouring threads at neighbouring
// elements; then a tree in shared memory is left with one value and its place.

__global__ void row_by_block_kernel(const float* in, int N, int* out) {
    __shared__ float value[256];
    __shared__ int place[256];
    const float* row = in + blockIdx.x * N;
    const int t = threadIdx.x;
    // your code: in the end value[0] and place[0] are the answer
    // stub: place[t] = 0;
    // wrong: value[t] = t < N ? row[t] : -INFINITY, place[t] = t;
    // wrong: for (int n = t + 256; n < N; n += 256) {
    // wrong: if (row[n] > value[t]) value[t] = row[n], place[t] = n;
    // wrong: }
    // wrong: __syncthreads();
    // wrong: for (int half = 128; half > 0; half /= 2) {
    // wrong: if (t < half && value[t + half] > value[t]) {
    // wrong: value[t] = value[t + half], place[t] = place[t + half];
    // wrong: }
    // wrong: __syncthreads();
    // wrong: }
    float best = -INFINITY;
    int at = N;  // behind all others: loses against any element, also against -INFINITY
    for (int n = t; n < N; n += 256) {
        if (row[n] > best || at == N) best = row[n], at = n;
    }
    value[t] = best, place[t] = at;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            const float other = value[t + half];
            const int there = place[t + half];
            if (other > value[t] || (other == value[t] && there < place[t])) {
                value[t] = other, place[t] = there;
            }
        }
        __syncthreads();
    }
    // end of your code
    if (t == 0) out[blockIdx.x] = place[0];
}

void row_by_block(const float* in, int M, int N, int* out) {
    row_by_block_kernel<<<M, 256>>>(in, N, out);
}

// hint 1: Thread t looks at elements t, t + 256, t + 512, ... and keeps the best of them with its
// hint 1: place. What does a thread keep that has no element, since N is less than 256?
// hint 2: The tree is that of the exercise before, with "is it better?" in place of the sum, and
// hint 2: it moves value and place together.
// hint 3: In the tree two equal values may meet in either order: thread 0's share holds place 256
// hint 3: and thread 1's place 1. So compare places where values are equal. A thread without an
// hint 3: element keeps -INFINITY and the place N, which is behind all others.
// why: Within its share a thread goes from left to right, so > keeps the first of equal ones.
// why: Between shares it does not: the place has to be part of the rule, and then it makes no
// why: difference who meets whom. The place N lets a row of nothing but -INFINITY have the answer
// why: 0.
// told: lower place
