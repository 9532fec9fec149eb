// Step 6: float4 loads and stores, a quarter of the instructions. A thread takes a square of 4 x 4
// floats: one float4 from each of four rows. Transposing it costs no instruction, because it only
// renames registers: column i of the square is (row[0].i, row[1].i, row[2].i, row[3].i), a float4
// of a row of `out`. So the tile holds float4, and all accesses are 128 bits wide.
//
// Padding would break the alignment of the float4, so a swizzle avoids the bank conflicts instead.
// Row c of the tile is row n0 + c of `out`: 16 float4. float4 number q is stored at position
// q ^ (c / 4): a different order of the 16 positions for every four rows. The 8 lanes that write in
// one wavefront, to rows 4 apart, then use different groups of 4 banks; so do the 8 that read.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/edge.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 64;      // rows and columns of a tile: 16 KiB
constexpr int kThreads = 256;  // 16 x 16 squares of 4 x 4

__global__ void transpose_vectorized_kernel(const __grid_constant__ Matrices x) {
    __shared__ uint4 shared[kSide][kSide / 4];
    const auto tile = tile_of_block<std::uint32_t>(x, kSide, kSide);
    const int p = threadIdx.x % 16;  // this thread's square: columns 4 p .. 4 p + 3
    const int q = threadIdx.x / 16;  // rows 4 q .. 4 q + 3

    uint4 row[4];
    load_square(tile.in + 4 * q * x.pitch_in + 4 * p, x.pitch_in, tile.rows - 4 * q,
                tile.columns - 4 * p, row);
    shared[4 * p + 0][q ^ p] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
    shared[4 * p + 1][q ^ p] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
    shared[4 * p + 2][q ^ p] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
    shared[4 * p + 3][q ^ p] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
    __syncthreads();

    for (int j = 0; j < 4; ++j) {
        const int n = q + 16 * j;  // a row of out; this thread writes its 16 bytes at position p
        const uint4 vector = shared[n][p ^ n / 4];
        if (n < tile.columns) {
            store_vector(tile.out + n * x.pitch_out + 4 * p, tile.rows - 4 * p, vector);
        }
    }
}

}  // namespace

void launch_transpose_vectorized(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, kSide, kSide);
    transpose_vectorized_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_vectorized_kernel", grid, kThreads);
}

}  // namespace sixdays::day03_views
