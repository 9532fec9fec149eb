// Exercise 4 of Day 03: a pad.
//
// Tiny, 5 minutes.
//
// The kernel transposes a matrix of 32 x 32 by way of a tile in shared memory, and is right. But
// when a warp stores a column of the tile, its 32 words lie in one bank, and they go there one
// after another. Change the shape of the tile so that they lie in 32.

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

// hint 1: Word w lies in bank w % 32. Which words do the lanes x = 0 to 31 store, for y = 0?
// hint 2: Words 0, 32, 64, ...: all in bank 0. How long would a row have to be, so that the next
// hint 2: row's word lies one bank further on?
// why: With rows of 33 words, lane x stores word 33 x + y, in bank (x + y) % 32: 32 lanes, 32
// why: banks. One more row would change nothing, since rows would be as long as before.
// told: one bank
// told 2: rows of an even number of words to at most half of them
