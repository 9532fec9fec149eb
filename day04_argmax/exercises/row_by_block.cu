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
    // wrong 2: float best = 0;
    // wrong 3: float best = -1e30f;
    // wrong 456: float best = -INFINITY;
    // wrong 2346: int at = 0;
    // wrong 5: int at = N;
    // wrong 23456: for (int n = t; n < N; n += 256) {
    // wrong 2345: if (row[n] > best) best = row[n], at = n;
    // wrong 6: if (row[n] >= best) best = row[n], at = n;
    // wrong 23456: }
    // wrong 23456: value[t] = best, place[t] = at;
    // wrong 23456: __syncthreads();
    // wrong 23456: for (int half = 128; half > 0; half /= 2) {
    // wrong 23456: if (t < half) {
    // wrong 23456: const float other = value[t + half];
    // wrong 23456: const int there = place[t + half];
    // wrong 23456: if (other > value[t] || (other == value[t] && there < place[t])) {
    // wrong 23456: value[t] = other, place[t] = there;
    // wrong 23456: }
    // wrong 4: __syncthreads();
    // wrong 23456: }
    // wrong 2356: __syncthreads();
    // wrong 23456: }
    float best = -INFINITY;
    int at = 0;  // if nothing beats -INFINITY, all elements are that, and 0 is the answer
    for (int n = t; n < N; n += 256) {
        if (row[n] > best) best = row[n], at = n;
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
    __syncthreads();  // all 256 threads must come here, and to each of yours
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
// hint 3: and thread 1's place 1. So compare places where values are equal. Each thread begins with
// hint 3: -INFINITY at place 0, whether it has an element or not: any number beats that, and a row
// hint 3: of nothing but -INFINITY has the answer 0.
// why: Within its share a thread goes from left to right, so > keeps the first of equal ones.
// why: Between shares it does not: the place has to be part of the rule, and then it makes no
// why: difference who meets whom. Only -INFINITY is below every number; with 0 as a start a row of
// why: negative numbers would have no largest.
// told: lower place
// told 2: a start of 0
// told 3: Only -INFINITY
// told 4: inside an `if`
// told 5: no place of the row
// told 6: `>=` in the loop
