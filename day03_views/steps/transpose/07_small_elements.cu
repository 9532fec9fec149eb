// Step 7: small elements. Step 6 with K = 8 elements of 2 bytes or 16 of 1 byte in 16 bytes: a
// thread takes a square of K x K. But now a register holds 2 or 4 elements, so transposing the
// square means splitting registers. Bytes of one column are packed into one word:
//
//     row 0   a0 a1 a2 a3 ..               a0 b0 c0 d0   a1 b1 c1 d1   ..
//     row 1   b0 b1 b2 b3 ..     becomes
//     row 2   c0 c1 c2 c3 ..               one word per column: four elements of a row of out
//     row 3   d0 d1 d2 d3 ..
//
// __byte_perm(x, y, s) selects 4 of the 8 bytes of x (0 to 3) and y (4 to 7). Each hexadecimal
// digit of s selects one, the last digit the lowest byte.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/edge.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

__device__ unsigned word(const uint4& vector, int i) {
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

// word[i] of column c: elements (2 i, c) and (2 i + 1, c), of 2 bytes.
__device__ void transpose_square(const uint4 (&row)[8], uint4 (&column)[8]) {
    const auto pair = [&](int i, int c) {  // of rows 2 i and 2 i + 1
        const unsigned a = word(row[2 * i], c / 2), b = word(row[2 * i + 1], c / 2);
        return __byte_perm(a, b, c % 2 == 0 ? 0x5410 : 0x7632);  // the lower or the upper halves
    };
    for (int c = 0; c < 8; ++c) {
        column[c] = make_uint4(pair(0, c), pair(1, c), pair(2, c), pair(3, c));
    }
}

// Four rows of four bytes, transposed.
__device__ uint4 transposed(unsigned a, unsigned b, unsigned c, unsigned d) {
    const unsigned ab01 = __byte_perm(a, b, 0x5140);  // a0 b0 a1 b1
    const unsigned ab23 = __byte_perm(a, b, 0x7362);  // a2 b2 a3 b3
    const unsigned cd01 = __byte_perm(c, d, 0x5140);
    const unsigned cd23 = __byte_perm(c, d, 0x7362);
    return make_uint4(__byte_perm(ab01, cd01, 0x5410),  // a0 b0 c0 d0
                      __byte_perm(ab01, cd01, 0x7632),  // a1 b1 c1 d1
                      __byte_perm(ab23, cd23, 0x5410), __byte_perm(ab23, cd23, 0x7632));
}

// Elements of 1 byte: 4 x 4 words, each the start of a square of 4 x 4 bytes.
__device__ void transpose_square(const uint4 (&row)[16], uint4 (&column)[16]) {
    for (int i = 0; i < 4; ++i) {  // columns 4 i .. 4 i + 3
        uint4 t[4];                // t[j]: of rows 4 j .. 4 j + 3
        for (int j = 0; j < 4; ++j) {
            t[j] = transposed(word(row[4 * j], i), word(row[4 * j + 1], i), word(row[4 * j + 2], i),
                              word(row[4 * j + 3], i));
        }
        for (int k = 0; k < 4; ++k) {
            column[4 * i + k] =
                make_uint4(word(t[0], k), word(t[1], k), word(t[2], k), word(t[3], k));
        }
    }
}

// P x Q squares of K x K elements, one per thread: 16 x 16 of 8 x 8, or 16 x 8 of 16 x 16.
template <class T, int P, int Q>
__global__ void __launch_bounds__(P* Q)
    transpose_small_elements_kernel(const __grid_constant__ Matrices x) {
    constexpr int K = 16 / sizeof(T);
    __shared__ uint4 shared[P * K][Q];  // 32 KiB
    const Tile<T> tile = tile_of_block<T>(x, Q * K, P * K);
    const int p = threadIdx.x % P, q = threadIdx.x / P;

    uint4 row[K], column[K];
    load_square(tile.in + K * q * x.pitch_in + K * p, x.pitch_in, tile.rows - K * q,
                tile.columns - K * p, row);
    transpose_square(row, column);
    for (int c = 0; c < K; ++c) shared[K * p + c][(q ^ p) % Q] = column[c];
    __syncthreads();

    const int u = threadIdx.x % Q, v = threadIdx.x / Q;
    for (int j = 0; j < K; ++j) {
        const int n = v + P * j;  // a row of out; this thread writes its 16 bytes at position u
        const uint4 vector = shared[n][(u ^ n / K) % Q];
        if (n < tile.columns) {
            store_vector(tile.out + n * x.pitch_out + K * u, tile.rows - K * u, vector);
        }
    }
}

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    constexpr int K = 16 / sizeof(T), P = 16, Q = sizeof(T) == 2 ? 16 : 8;
    const unsigned grid = cut_into_tiles(x, Q * K, P * K);
    transpose_small_elements_kernel<T, P, Q><<<grid, P * Q, 0, stream>>>(x);
    gpu::check_launch("transpose_small_elements_kernel", grid, P * Q);
}

}  // namespace

void launch_transpose_small_elements(const Matrices& x, gpu::Stream stream) {
    if (x.element == 1) launch<std::uint8_t>(x, stream);
    if (x.element == 2) launch<std::uint16_t>(x, stream);
}

}  // namespace sixdays::day03_views
