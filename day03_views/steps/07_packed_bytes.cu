// Step 7: small elements. The banks of shared memory are 4 bytes wide, so the tile should hold
// words. A thread reads 16 bytes from each of 2 rows (elements of 2 bytes) or 4 rows (of 1 byte)
// and packs what stands one below the other into words; those are then transposed as in step 6.
//
//     row 0   a0 a1 a2 a3 ..               a0 b0 c0 d0   a1 b1 c1 d1   ..
//     row 1   b0 b1 b2 b3 ..     becomes
//     row 2   c0 c1 c2 c3 ..               one word a column, four elements of a row of out
//     row 3   d0 d1 d2 d3 ..
//
// __byte_perm(x, y, s) picks 4 of the 8 bytes of x (0 to 3) and y (4 to 7); the hexadecimal digits
// of s say which, the last one for the lowest byte.
#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "day03_views/steps/sixteen.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/steps/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

// [pack]
// Elements of 2 bytes: two rows of 8 become 8 words of 2.
__device__ void pack(const uint4 (&row)[2], std::uint16_t, unsigned (&word)[8]) {
    const unsigned a[4] = {row[0].x, row[0].y, row[0].z, row[0].w};
    const unsigned b[4] = {row[1].x, row[1].y, row[1].z, row[1].w};
    for (int i = 0; i < 4; ++i) {
        word[2 * i + 0] = __byte_perm(a[i], b[i], 0x5410);  // a0 b0
        word[2 * i + 1] = __byte_perm(a[i], b[i], 0x7632);  // a1 b1
    }
}

// Elements of 1 byte: four rows of 16 become 16 words of 4.
__device__ void pack(const uint4 (&row)[4], std::uint8_t, unsigned (&word)[16]) {
    const unsigned a[4] = {row[0].x, row[0].y, row[0].z, row[0].w};
    const unsigned b[4] = {row[1].x, row[1].y, row[1].z, row[1].w};
    const unsigned c[4] = {row[2].x, row[2].y, row[2].z, row[2].w};
    const unsigned d[4] = {row[3].x, row[3].y, row[3].z, row[3].w};
    for (int i = 0; i < 4; ++i) {
        const unsigned ab01 = __byte_perm(a[i], b[i], 0x5140);  // a0 b0 a1 b1
        const unsigned ab23 = __byte_perm(a[i], b[i], 0x7362);  // a2 b2 a3 b3
        const unsigned cd01 = __byte_perm(c[i], d[i], 0x5140);
        const unsigned cd23 = __byte_perm(c[i], d[i], 0x7362);
        word[4 * i + 0] = __byte_perm(ab01, cd01, 0x5410);  // a0 b0 c0 d0
        word[4 * i + 1] = __byte_perm(ab01, cd01, 0x7632);  // a1 b1 c1 d1
        word[4 * i + 2] = __byte_perm(ab23, cd23, 0x5410);
        word[4 * i + 3] = __byte_perm(ab23, cd23, 0x7632);
    }
}
// [pack]

// [kernel]
template <class T>
__global__ void transpose_packed_bytes_kernel(const __grid_constant__ Matrices x) {
    constexpr int E = 16 / sizeof(T);  // elements in 16 bytes: 8 or 16
    constexpr int P = 4 / sizeof(T);   // elements in a word: 2 or 4
    constexpr int TM = 128, TN = 8 * E, kQuads = TM / P / 4;
    __shared__ __align__(16) unsigned shared[TN][TM / P];  // 16 KiB: a row is a row of out
    const Tile<T> tile = tile_of_block<T>(x, TM, TN);

    // A warp reads 16 bytes 8 times along a row, in 4 * P rows: 4 words one below the other.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int c = lane % 8 * E;  // first column of this thread
    uint4 row[4 / P][P];
    for (int s = 0; s < 4 / P; ++s) {
        const int m = (warp * 4 + lane / 8 + 32 * s) * P;
        load_rows<1>(tile.in + m * x.pitch_in + c, x.pitch_in, tile.rows - m, tile.columns - c,
                     row[s]);
    }
    for (int s = 0; s < 4 / P; ++s) {
        const int u = warp * 4 + lane / 8 + 32 * s;  // which word of a row of out
        unsigned word[E];
        pack(row[s], T{}, word);
        for (int j = 0; j < E; ++j) shared[c + j][(u / 4 ^ lane % 8) * 4 + u % 4] = word[j];
    }
    __syncthreads();

    constexpr int kRows = kThreads / kQuads;
    const int q = threadIdx.x % kQuads;  // this thread's 16 bytes of a row of out
    for (int n = threadIdx.x / kQuads; n < TN; n += kRows) {
        const uint4 quad = *reinterpret_cast<const uint4*>(&shared[n][(q ^ n / E) * 4]);
        if (n >= tile.columns) break;
        store_at_edge(tile.out + n * x.pitch_out + q * E, tile.rows - q * E, quad);
    }
}
// [kernel]

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, 128, 8 * 16 / sizeof(T));
    transpose_packed_bytes_kernel<T><<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_packed_bytes_kernel", grid, kThreads);
}

}  // namespace

void launch_packed_bytes(const Matrices& x, int element, gpu::Stream stream) {
    if (element == 1) launch<std::uint8_t>(x, stream);
    if (element == 2) launch<std::uint16_t>(x, stream);
}

void transpose_packed_bytes(const BytesIn& in, const BytesOut& out, gpu::Stream stream) {
    check_transpose(in, out);
    if (out.layout.size() == 0) return;
    if (choose_transpose(in, out) != TransposePath::packed_bytes) {
        refuse(
            "transpose: packing needs elements of 1 or 2 bytes, and every row to begin at a "
            "multiple of 16 bytes");
    }
    launch_packed_bytes(matrices_to_transpose(in, out), in.element, stream);
}

}  // namespace sixdays::day03_views
