// Exercise 2 of Day 05: the edge of a tile.
//
// Tiny, 5 minutes.
//
// A block of 16 x 16 threads loads a tile of a matrix of M rows and K columns. Then one thread per
// row sums that row of the tile. out, of shape (M, tiles), gets the sum of each row of each tile. M
// and K are not multiples of 16.

__global__ void edge_of_a_tile_kernel(const float* a, int M, int K, float* out) {
    __shared__ float tile[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int m = blockIdx.y * 16 + y, k = blockIdx.x * 16 + x;
    // your code: what is stored to the tile where there is no element?
    // stub: tile[y][x] = a[m * K + k];
    // wrong: tile[y][x] = m * K + k < M * K ? a[m * K + k] : 0;
    tile[y][x] = m < M && k < K ? a[m * K + k] : 0;
    // end of your code
    __syncthreads();
    if (x == 0 && m < M) {
        float sum = 0;
        for (int i = 0; i < 16; ++i) sum += tile[y][i];
        out[m * gridDim.x + blockIdx.x] = sum;
    }
}

void edge_of_a_tile(const float* a, int M, int K, float* out) {
    edge_of_a_tile_kernel<<<dim3((K + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, M, K, out);
}

// hint 1: A thread whose element does not exist must not return, because of the barrier. What can
// hint 1: it store that does not change the sum?
// hint 2: Check both indices: past the end of a row is the next row, not the end of memory.
// why: 0 is the identity of the sum. The column needs its own check: the offset m K + k may be
// why: within the allocation and still belong to the next row.
// told: the next row's
