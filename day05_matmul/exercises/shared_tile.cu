// Exercise 4 of Day 05: a tile in shared memory.
//
// Medium, 25 minutes.
//
// c = a times b transposed, as in every linear layer: a is (M, K), b is (N, K) and c is (M, N), all
// row-major. c(m, n) is the sum of a(m, k) b(n, k) over all k. A block of 16 x 16 threads computes
// 16 x 16 outputs. Let it load a 16 x 16 tile of each operand to shared memory, use it, and advance
// along k, so that each block loads every number once. M, N and K are not multiples of 16. Loads
// must be coalesced: lanes run along k, for b too. The check counts the sectors that are moved.

__global__ void shared_tile_kernel(const float* a, const float* b, int M, int N, int K, float* c) {
    __shared__ float tile_a[16][16];  // [row of a][k]
    __shared__ float tile_b[16][17];  // [row of b][k]; padded: lanes read a column of it
    const int x = threadIdx.x, y = threadIdx.y;
    const int m = blockIdx.y * 16 + y, n = blockIdx.x * 16 + x;
    float sum = 0;
    // your code: when loading, lanes (x) run along k, where elements are contiguous
    // stub: for (int k = 0; m < M && n < N && k < K; ++k) sum += a[m * K + k] * b[n * K + k];
    // wrong: for (int first = 0; first < K; first += 16) {
    // wrong: const int k = first + x;
    // wrong: tile_a[y][x] = m < M && k < K ? a[m * K + k] : 0;
    // wrong: tile_b[y][x] = n < N && k < K ? b[n * K + k] : 0;
    // wrong: __syncthreads();
    // wrong: for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[x][i];
    // wrong: __syncthreads();
    // wrong: }
    // wrong 234: const int row_b = blockIdx.x * 16 + y;
    // wrong 24: for (int first = 0; first < K; first += 16) {
    // wrong 3: for (int first = 0; first < K / 16 * 16; first += 16) {
    // wrong 23: const int k = first + x;
    // wrong 4: const int k = x;
    // wrong 2: if (m < M && k < K) tile_a[y][x] = a[m * K + k];
    // wrong 2: if (row_b < N && k < K) tile_b[y][x] = b[row_b * K + k];
    // wrong 34: tile_a[y][x] = m < M && k < K ? a[m * K + k] : 0;
    // wrong 34: tile_b[y][x] = row_b < N && k < K ? b[row_b * K + k] : 0;
    // wrong 234: __syncthreads();
    // wrong 234: for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[x][i];
    // wrong 234: __syncthreads();
    // wrong 234: }
    const int row_b = blockIdx.x * 16 + y;  // the row of b that this thread loads
    for (int first = 0; first < K; first += 16) {
        const int k = first + x;
        tile_a[y][x] = m < M && k < K ? a[m * K + k] : 0;
        tile_b[y][x] = row_b < N && k < K ? b[row_b * K + k] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[x][i];
        __syncthreads();
    }
    // wrong 5: for (int first = 0; first < K; first += 16) {
    // wrong 5: tile_a[y][x] = m < M && first + x < K ? a[m * K + first + x] : 0;
    // wrong 5: const int row = blockIdx.x * 16 + y;
    // wrong 5: tile_b[y][x] = row < N && first + x < K ? b[row * K + first + x] : 0;
    // wrong 5: __syncthreads();
    // wrong 5: for (int k = 0; k < 16; ++k) sum += tile_a[y][k] * tile_b[k][x];
    // wrong 5: __syncthreads();
    // wrong 5: }
    // end of your code
    if (m < M && n < N) c[m * N + n] = sum;
}

void shared_tile(const float* a, const float* b, int M, int N, int K, float* c) {
    shared_tile_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, M, N, K, c);
}

// hint 1: Loop over first = 0, 16, 32, ... In each iteration: load one element of each tile,
// hint 1: barrier, accumulate 16 products from the tiles, barrier.
// hint 2: Thread (x, y) loads a(m, first + x). Of b it loads row y of the block's 16 rows, not row
// hint 2: n: what a thread loads is not what it uses. Store 0 where there is no element.
// hint 3: Output (m, n) needs row y of tile_a and row x of tile_b: tile_a[y][i] * tile_b[x][i].
// why: 256 outputs need 16 rows of a and 16 of b. The block loads each number once, and it serves
// why: 16 threads. The lanes load along k, along which both operands are contiguous. Which thread
// why: uses a number afterwards does not matter, because a barrier separates the two.
// told: Check which rows of b
// told 2: the round before: store 0
// told 3: The last products are missing
// told 4: loaded the first tile again
// told 5: takes b[n + 16 k] for k = 0 to 15
