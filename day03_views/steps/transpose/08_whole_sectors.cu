// Step 8: rows that begin anywhere. If the pitch of `out` is not a multiple of 8 floats, a
// rectangular tile ends in the middle of a sector in nearly every row of `out`, and the next tile
// continues there. Memory is written in whole sectors. A sector that two blocks write in part is
// likely to be read first and written twice. So each row of `out` is cut at its own multiples of 32
// bytes. The tile's edge in `out` is ragged, and A - 1 extra rows of `in` are read for it (A
// elements = 1 sector).
//
//     row n of out        ...|......##|########|########|#######.|      # elements of this tile
//     row n + 1            ...|....##|########|########|#####...|       | multiples of 32 bytes
//
// A barrier separates the loads from the stores to the tile. No thread reads the tile yet; the
// barrier keeps the compiler from interleaving the two, because a store that waits for its load
// delays all loads after it.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int TM = 128, TN = 64, kThreads = 512, kWarps = kThreads / 32;

// 4 blocks per SM are 2,048 threads, which leaves 32 registers for each.
template <class T>
__global__ void __launch_bounds__(kThreads, 4)
    transpose_whole_sectors_kernel(const __grid_constant__ Matrices x) {
    constexpr int A = 32 / sizeof(T), kMost = TM + A - 1;  // rows of in
    constexpr int kEach = (kMost + kWarps - 1) / kWarps;
    __shared__ T shared[kMost][TN + 4 / sizeof(T)];
    const Tile<T> tile = tile_of_block<T>(x, TM, TN);
    const std::int64_t above = std::int64_t{blockIdx.x % x.down} * TM;  // rows
    const int rows = static_cast<int>(x.M - above < kMost ? x.M - above : kMost);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    T value[kEach][2];
    const T* in = tile.in + warp * x.pitch_in + lane;
#pragma unroll
    for (int j = 0; j < kEach; ++j, in += kWarps * x.pitch_in) {
        const bool inside = warp + j * kWarps < rows;
        if (inside && lane < tile.columns) value[j][0] = in[0];
        if (inside && lane + 32 < tile.columns) value[j][1] = in[32];
    }
    __syncthreads();  // no store to the tile before the last load
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const int m = warp + j * kWarps;
        if (m < rows && lane < tile.columns) shared[m][lane] = value[j][0];
        if (m < rows && lane + 32 < tile.columns) shared[m][lane + 32] = value[j][1];
    }
    __syncthreads();

    for (int n = warp; n < tile.columns; n += kWarps) {
        T* out = tile.out + n * x.pitch_out;
        const int past = reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % A;
        const int shift = (A - past) % A;          // elements to the next multiple of 32 bytes
        const int begin = above == 0 ? 0 : shift;  // the tile above writes the part before it
        const int end = min(TM + shift, rows);
#pragma unroll
        for (int k = 0; k <= TM / 32; ++k) {
            const int m = shift - A + lane + 32 * k;
            if (m >= begin && m < end) out[m] = shared[m][n];
        }
    }
}

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, TM, TN);
    transpose_whole_sectors_kernel<T><<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_whole_sectors_kernel", grid, kThreads);
}

}  // namespace

void launch_transpose_whole_sectors(const Matrices& x, gpu::Stream stream) {
    if (x.element == 2) launch<std::uint16_t>(x, stream);
    if (x.element == 4) launch<std::uint32_t>(x, stream);
}

}  // namespace sixdays::day03_views
