// Exercise 4 of Day 03: padding against bank conflicts.
//
// Tiny, 5 minutes.
//
// The kernel transposes a 32 x 32 matrix through a tile in shared memory, and its results are
// right. But when a warp stores a column of the tile, all 32 words are in the same bank: a 32-way
// bank conflict, which takes 32 wavefronts. Change the shape of the tile so that a column is spread
// over 32 banks.

__global__ void no_conflict_kernel(const float* in, float* out) {
    // your code
    // stub: __shared__ float tile[32][32];
    // wrong: __shared__ float tile[33][32];
    __shared__ float tile[32][33];
    // wrong 2: __shared__ float tile[32][34];
    // end of your code
    const int x = threadIdx.x, y = threadIdx.y;
    tile[x][y] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[y][x];
}

void no_conflict(const float* in, float* out) {
    no_conflict_kernel<<<1, dim3(32, 32)>>>(in, out);
}

// hint 1: Word w is in bank w % 32. Which words do the lanes x = 0 to 31 store for y = 0?
// hint 2: Words 0, 32, 64, ...: all in bank 0. How long would a row have to be for the word in the
// hint 2: next row to be in the next bank?
// why: With rows of 33 words, lane x stores word 33 x + y, which is in bank (x + y) % 32: 32 lanes,
// why: 32 banks. One more row would change nothing, because the rows would be as long as before.
// told: in the same bank
// told 2: rows with an even number of words use at most 16
