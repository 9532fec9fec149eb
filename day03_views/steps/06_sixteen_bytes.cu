// Step 6: 16 bytes a load and a store, a quarter of the instructions. A thread reads four quads of
// four floats, writes each quad's floats into four rows of the tile, and reads quads of them.
//
// A pad would spoil the alignment of those quads, so the tile's banks are kept apart by a swizzle.
// Row c of the tile is row n0 + c of `out`: 16 quads. Quad q does not lie in place q but in place
// q ^ (c / 4 % 16): the same 16 places in another order for every four rows. All 8 lanes that
// write at once, to rows 4 apart, then hit different quads of banks; so do the 8 that read at once.
#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "day03_views/steps/sixteen.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/steps/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kSide = 64;  // rows and columns of a tile: 16 KiB
constexpr int kThreads = 256;
constexpr int kEach = 4;  // quads a thread: 64 bytes under way

// [kernel]
__global__ void transpose_sixteen_bytes_kernel(const __grid_constant__ Matrices x) {
    __shared__ __align__(16) std::uint32_t shared[kSide][kSide];
    const auto tile = tile_of_block<std::uint32_t>(x, kSide, kSide);

    // A warp reads 8 quads of a row in each of 4 rows; two warps side by side.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int c = (warp % 2 * 8 + lane % 8) * 4;  // first column of this thread's quads
    const int r = warp / 2 * 4 + lane / 8;        // row of the first, then every 16th
    uint4 value[kEach];
    load_rows<16>(tile.in + r * x.pitch_in + c, x.pitch_in, tile.rows - r, tile.columns - c, value);
    for (int j = 0; j < kEach; ++j) {
        const int m = r + j * 16;
        const int place = (m / 4 ^ c / 4) * 4 + m % 4;
        shared[c + 0][place] = value[j].x;
        shared[c + 1][place] = value[j].y;
        shared[c + 2][place] = value[j].z;
        shared[c + 3][place] = value[j].w;
    }
    __syncthreads();

    const int q = threadIdx.x % 16;  // this thread's quad of a row of out
    const int s = threadIdx.x / 16;  // and the row, then every 16th
    std::uint32_t* out = tile.out + s * x.pitch_out + q * 4;
    for (int j = 0; j < kEach; ++j) {
        const int n = s + j * 16;
        const uint4 quad = *reinterpret_cast<const uint4*>(&shared[n][(q ^ n / 4) * 4]);
        if (n < tile.columns) store_at_edge(out + j * 16 * x.pitch_out, tile.rows - q * 4, quad);
    }
}
// [kernel]

}  // namespace

void launch_sixteen_bytes(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, kSide, kSide);
    transpose_sixteen_bytes_kernel<<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_sixteen_bytes_kernel", grid, kThreads);
}

void transpose_sixteen_bytes(View<const float> in, View<float> out, gpu::Stream stream) {
    check_transpose(bytes_in(in), bytes_out(out));
    if (out.size() == 0) return;
    if (choose_transpose(bytes_in(in), bytes_out(out)) != TransposePath::sixteen_bytes) {
        refuse("transpose: 16-byte loads need every row to begin at a multiple of 16 bytes");
    }
    launch_sixteen_bytes(matrices_to_transpose(bytes_in(in), bytes_out(out)), stream);
}

}  // namespace sixdays::day03_views
