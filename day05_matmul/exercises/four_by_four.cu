// Exercise 5 of Day 05: 4 x 4 outputs per thread (register tiling).
//
// Medium, 30 minutes.
//
// c = a b again, with M, N and K multiples of 64. A block of 16 x 16 threads computes 64 x 64
// outputs, 16 per thread: rows y, y + 16, y + 32, y + 48 of the block's 64 rows, and columns x, x +
// 16, x + 32, x + 48. The code that loads the tiles is given. For each k, a thread loads 4 numbers
// of a and 4 of b from the tiles and accumulates 16 products.

__global__ void four_by_four_kernel(const float* a, const float* b, int N, int K, float* c) {
    __shared__ float tile_a[16][65], tile_b[16][64];  // [k][row of a], [k][column of b]
    const int x = threadIdx.x, y = threadIdx.y, t = 16 * y + x;
    const int first_m = blockIdx.y * 64, first_n = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int first = 0; first < K; first += 16) {
        for (int i = t; i < 16 * 64; i += 256) {
            tile_a[i % 16][i / 16] = a[(first_m + i / 16) * K + first + i % 16];
            tile_b[i / 64][i % 64] = b[(first + i / 64) * N + first_n + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            // your code: the 16 products of this k
            // stub: sum[0][0] += tile_a[k][y] * tile_b[k][x];
            // wrong: for (int i = 0; i < 4; ++i) {
            // wrong: for (int j = 0; j < 4; ++j)
            // wrong: sum[i][j] += tile_a[k][4 * y + i] * tile_b[k][4 * x + j];
            // wrong: }
            // wrong 23: for (int i = 0; i < 4; ++i) {
            // wrong 23: for (int j = 0; j < 4; ++j)
            // wrong 2: sum[i][j] += tile_a[k][y + i] * tile_b[k][x + j];
            // wrong 3: sum[i][j] += a[(first_m + y + 16 * i) * K + first + k] *
            // wrong 3: b[(first + k) * N + first_n + x + 16 * j];
            // wrong 23: }
            float of_a[4], of_b[4];
            for (int i = 0; i < 4; ++i) {
                of_a[i] = tile_a[k][y + 16 * i];
                of_b[i] = tile_b[k][x + 16 * i];
            }
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) sum[i][j] += of_a[i] * of_b[j];
            }
            // wrong 4: for (int i = 0; i < 4; ++i) {
            // wrong 4: for (int j = 0; j < 4; ++j)
            // wrong 4: sum[i][j] = tile_a[k][y + 16 * i] * tile_b[k][x + 16 * j];
            // wrong 4: }
            // wrong 5: for (int i = 0; i < 4; ++i) sum[i][i] += tile_a[k][y + 16 * i] * tile_b[k][x + 16 * i];
            // end of your code
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            c[(first_m + y + 16 * i) * N + first_n + x + 16 * j] = sum[i][j];
        }
    }
}

void four_by_four(const float* a, const float* b, int M, int N, int K, float* c) {
    four_by_four_kernel<<<dim3(N / 64, M / 64), dim3(16, 16)>>>(a, b, N, K, c);
}

// hint 1: Load two arrays of four, of_a and of_b, from the tiles first. Which rows of the tile does
// hint 1: this thread need?
// hint 2: Rows y + 16 i and columns x + 16 j, as in the statement and in the stores at the end.
// hint 3: Then two loops over i and j: sum[i][j] += of_a[i] * of_b[j]. Neither of them accesses
// hint 3: shared memory.
// why: 8 numbers from shared memory feed 16 products. With one output per thread, every product
// why: needs 2. The arrays are small and the compiler knows all their indices, so they are in
// why: registers. Columns are 16 apart so that the lanes of a warp read neighbouring words of
// why: tile_b.
// told: rows 4 y + i and columns 4 x + j
// told 2: rows y + i and columns x + j
// told 3: read the numbers from the tiles
// told 4: `=` overwrites the sum
// told 5: c(0, 16) takes nothing of a
