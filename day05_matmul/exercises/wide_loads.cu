// Exercise 6 of Day 05: 128-bit loads.
//
// Easy, 20 minutes.
//
// c = a transposed times b: a is (K, M), b is (K, N) and c is (M, N). The stride of k is a_k in a
// and b_k in b, so c(m, n) is the sum of a[k * a_k + m] b[k * b_k + n] over all k.
// Blocks, tiles and outputs are those of four_by_four, but M, N and K may have any value. Both
// tiles are 16 x 64, so one function loads either. It loads one float at a time: let each of the
// 256 threads load one float4 instead, and store it to the tile as a float4.
//
// Load a float4 only where all four elements exist and the address of the first is a multiple of 16
// bytes. Elsewhere load those that exist one by one. Where no element exists, store 0. The check
// counts the lanes' accesses: a float4 is one.

#include <cstdint>

// May a float4 begin here?
__device__ bool is_aligned(const float* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

// Loads the tile that begins at `from`. From there on, `rows` rows of `columns` elements exist,
// which may be more than a tile has.
__device__ void load_tile(const float* from, int stride, int rows, int columns,
                          float tile[16][64]) {
    const int t = threadIdx.y * 16 + threadIdx.x;
    // your code: one float4 per thread
    // stub: for (int i = t; i < 16 * 64; i += 256) {
    // stub:     const int k = i / 64, n = i % 64;
    // stub:     tile[k][n] = k < rows && n < columns ? from[k * stride + n] : 0;
    // stub: }
    // wrong 1234: const int k = t / 16, n = t % 16 * 4;
    // wrong 5: const int k = t % 16, n = t / 16 * 4;
    // wrong 12345: const float* const p = from + k * stride + n;
    // wrong 12345: const int inside = k < rows ? columns - n : 0;
    // wrong 12345: float4 four = make_float4(0, 0, 0, 0);
    // wrong: if (inside > 0 && is_aligned(p)) {
    // wrong 2: if (inside >= 4) {
    // wrong 35: if (inside >= 4 && is_aligned(p)) {
    // wrong 125: four = *reinterpret_cast<const float4*>(p);
    // wrong 3: four = reinterpret_cast<const float4*>(from)[k * stride + n];
    // wrong 1235: } else {
    // wrong 12345: if (inside > 0) four.x = p[0];
    // wrong 12345: if (inside > 1) four.y = p[1];
    // wrong 12345: if (inside > 2) four.z = p[2];
    // wrong 12345: if (inside > 3) four.w = p[3];
    // wrong 1235: }
    // wrong 12345: *reinterpret_cast<float4*>(&tile[k][n]) = four;
    const int k = t / 16, n = t % 16 * 4;
    const float* const p = from + k * stride + n;
    const int inside = k < rows ? columns - n : 0;  // elements from p on; zero or less means none
    float4 four = make_float4(0, 0, 0, 0);
    if (inside >= 4 && is_aligned(p)) {
        four = *reinterpret_cast<const float4*>(p);
    } else {
        if (inside > 0) four.x = p[0];
        if (inside > 1) four.y = p[1];
        if (inside > 2) four.z = p[2];
        if (inside > 3) four.w = p[3];
    }
    *reinterpret_cast<float4*>(&tile[k][n]) = four;
    // end of your code
}

__global__ void wide_loads_kernel(const float* a, int a_k, const float* b, int b_k, int M, int N,
                                  int K, float* c) {
    __shared__ __align__(16) float tile_a[16][64], tile_b[16][64];  // [k][m], [k][n]
    const int x = threadIdx.x, y = threadIdx.y;
    const int first_m = blockIdx.y * 64, first_n = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int first = 0; first < K; first += 16) {
        load_tile(a + first * a_k + first_m, a_k, K - first, M - first_m, tile_a);
        load_tile(b + first * b_k + first_n, b_k, K - first, N - first_n, tile_b);
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float of_a[4], of_b[4];
            for (int i = 0; i < 4; ++i) {
                of_a[i] = tile_a[k][y + 16 * i];
                of_b[i] = tile_b[k][x + 16 * i];
            }
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) sum[i][j] += of_a[i] * of_b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int m = first_m + y + 16 * i, n = first_n + x + 16 * j;
            if (m < M && n < N) c[m * N + n] = sum[i][j];
        }
    }
}

void wide_loads(const float* a, int a_k, const float* b, int b_k, int M, int N, int K, float* c) {
    const dim3 grid((N + 63) / 64, (M + 63) / 64);
    wide_loads_kernel<<<grid, dim3(16, 16)>>>(a, a_k, b, b_k, M, N, K, c);
}

// hint 1: A row of the tile has 16 float4s. Which row and which float4 does thread t load, and in
// hint 1: which column does that float4 begin? Neighbouring lanes need neighbouring float4s.
// hint 2: Thread t loads row k = t / 16 from column n = t % 16 * 4 on. If row k exists, columns - n
// hint 2: elements of it remain. One float4 load needs at least four, and an aligned address.
// hint 3: Begin with float4 four = make_float4(0, 0, 0, 0). Load it as a float4, or set those of
// hint 3: four.x to four.w that exist. Every thread then stores it to &tile[k][n].
// why: One load and one store replace four of each, with one guard and one address instead of four.
// why: At the right edge only a thread whose float4 is cut off loads single elements. The address
// why: needs its own check: it is a multiple of 16 bytes in all rows only if it is in the first and
// why: the stride is a multiple of 4 elements. For step 7 the host makes that check, once.
// told: past the end of a row
// told 2: only if the first one does
// told 3: counts float4s
// told 4: one by one are four
// told 5: let them load and store neighbouring
