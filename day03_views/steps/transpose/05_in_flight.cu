// Step 5: memory latency is long, so keep more bytes in flight. Step 4 has 16 bytes in flight per
// thread, 32 KiB per SM of 2,048 threads, and less at the barrier. Here a thread takes 16 elements
// of 4 bytes (or 4 of 16), and issues all of its loads before it uses the first. Elements of any
// size, at any address and any pitch, and a stack of matrices in one launch: tile_of_block() gives
// this block's tile and matrix.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

template <class T, int SIDE>
__global__ void transpose_in_flight_kernel(const __grid_constant__ Matrices x) {
    constexpr int kPad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // at least one word
    constexpr int kRows = kThreads / SIDE, kEach = SIDE / kRows;
    __shared__ T shared[SIDE][SIDE + kPad];
    const Tile<T> tile = tile_of_block<T>(x, SIDE, SIDE);
    const int column = threadIdx.x % SIDE, row = threadIdx.x / SIDE;

    T value[kEach] = {};  // 0 past the edge
    for (int j = 0; j < kEach; ++j) {
        const int m = row + j * kRows, n = column;
        if (m < tile.rows && n < tile.columns) {
            value[j] = tile.in[m * x.pitch_in + n];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        shared[row + j * kRows][column] = value[j];
    }
    __syncthreads();  // wait until the whole tile is loaded
    for (int j = 0; j < kEach; ++j) {
        const int m = column, n = row + j * kRows;
        if (m < tile.rows && n < tile.columns) {
            tile.out[n * x.pitch_out + m] = shared[m][n];
        }
    }
}

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    constexpr int kSide = sizeof(T) <= 4 ? 64 : 32;  // 16 KiB plus padding
    const unsigned grid = cut_into_tiles(x, kSide, kSide);
    transpose_in_flight_kernel<T, kSide><<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_in_flight_kernel", grid, kThreads);
}

}  // namespace

void launch_transpose_in_flight(const Matrices& x, gpu::Stream stream) {
    with_element(x.element, [&](auto element) { launch<decltype(element)>(x, stream); });
}

}  // namespace sixdays::day03_views
