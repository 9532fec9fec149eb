// Step 5: memory answers late, so ask for much at once. A thread of step 4 has 16 bytes in flight,
// a multiprocessor of 2,048 threads 32 KiB; an H200 needs about 48. Here a thread takes 16 elements
// of 4 bytes (or 4 of 16), and all of its loads come before the first use of any. The barrier
// between them sees to that: without it the compiler makes one `if` of two equal ones, and then
// each load waits for its own store. Any element, any address, any pitch: this kernel is also the
// one for rows that begin nowhere in particular.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

// [kernel]
template <class T, int SIDE>
__global__ void transpose_in_flight_kernel(const __grid_constant__ Matrices x) {
    // A row further down must be an odd number of words further on, or of
    // elements where those are longer: the pad is one word, or one element.
    constexpr int kPad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    __shared__ T shared[SIDE][SIDE + kPad];
    const Tile<T> tile = tile_of_block<T>(x, SIDE, SIDE);
    constexpr int kRows = kThreads / SIDE, kEach = SIDE / kRows;
    const int a = threadIdx.x % SIDE;  // along a row
    const int b = threadIdx.x / SIDE;  // which row, then every kRows-th

    T value[kEach];
    const T* in = tile.in + b * x.pitch_in + a;
    for (int j = 0; j < kEach; ++j) {
        const bool inside = a < tile.columns && b + j * kRows < tile.rows;
        if (inside) value[j] = in[j * kRows * x.pitch_in];
    }
    __syncthreads();  // no store to the tile before the last load
    for (int j = 0; j < kEach; ++j) {
        const bool inside = a < tile.columns && b + j * kRows < tile.rows;
        if (inside) shared[b + j * kRows][a] = value[j];
    }
    __syncthreads();
    T* out = tile.out + b * x.pitch_out + a;
    for (int j = 0; j < kEach; ++j) {
        const bool inside = a < tile.rows && b + j * kRows < tile.columns;
        if (inside) out[j * kRows * x.pitch_out] = shared[a][b + j * kRows];
    }
}
// [kernel]

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    constexpr int kSide = sizeof(T) <= 4 ? 64 : 32;  // 16 KiB, and the pad
    const unsigned grid = cut_into_tiles(x, kSide, kSide);
    transpose_in_flight_kernel<T, kSide><<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("transpose_in_flight_kernel", grid, kThreads);
}

}  // namespace

void launch_transpose_in_flight(const Matrices& x, gpu::Stream stream) {
    with_element(x.element, [&](auto element) { launch<decltype(element)>(x, stream); });
}

}  // namespace sixdays::day03_views
