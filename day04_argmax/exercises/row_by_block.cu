// Exercise 4 of Day 04: argmax with one block per row.
//
// Medium, 30 minutes.
//
// A block of 256 threads finds the index of the largest element of its row. The row's length N may
// be anything from 1. Of equal elements, the one with the lower index wins. (There are no NaNs this
// time.) Each thread first scans its part of the row, with neighbouring threads on neighbouring
// elements. Then a tree reduction in shared memory reduces the block to one value and its index.

__global__ void row_by_block_kernel(const float* in, int N, int* out) {
    __shared__ float value[256];
    __shared__ int place[256];
    const float* row = in + blockIdx.x * N;
    const int t = threadIdx.x;
    // your code: at the end value[0] and place[0] are the result
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
    int at = 0;  // if nothing beats -INFINITY, all elements are -INFINITY: the answer is 0
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
    __syncthreads();  // all 256 threads must reach this one, and each of yours
    if (t == 0) out[blockIdx.x] = place[0];
}

void row_by_block(const float* in, int M, int N, int* out) {
    row_by_block_kernel<<<M, 256>>>(in, N, out);
}

// hint 1: Thread t scans elements t, t + 256, t + 512, ... and keeps the best of them with its
// hint 1: index. What does a thread keep that has no element, because N is less than 256?
// hint 2: The tree is that of the exercise `tree`, with "is it better?" in place of the sum. It
// hint 2: moves value and index together.
// hint 3: Two equal values may meet in the tree in either order: thread 0 may hold index 256 and
// hint 3: thread 1 index 1. So compare indices where values are equal. Every thread starts with
// hint 3: -INFINITY at index 0, whether it has an element or not. Every finite number beats that,
// hint 3: and a row of nothing but -INFINITY has the answer 0.
// why: Within its part of the row, a thread scans in increasing order, so > keeps the first of
// why: equal elements. Between threads there is no such order, so the index has to be part of the
// why: rule. Then the order of comparisons does not matter. Only -INFINITY is below every finite
// why: number. With a start of 0, a row of negative numbers would have no largest element.
// told: the lower index
// told 2: a start of 0
// told 3: Only -INFINITY
// told 4: inside an `if`
// told 5: no index of the row
// told 6: `>=` in the loop
