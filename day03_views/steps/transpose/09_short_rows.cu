// Step 9: 3 channels, 17 columns. Where one of the two dimensions is short, a square tile would be
// mostly empty. So a block takes a flat tile: all of the short one, as much of the long one as
// fits.
#include <climits>

#include "common/gpu/launch.hpp"
#include "common/tensor/fast_division.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {

namespace {

constexpr int kThreads = 256;

// Elements per thread, for 64 bytes in flight if possible.
template <class T>
constexpr int kEach = sizeof(T) <= 4 ? 16 : 64 / sizeof(T);

constexpr unsigned kOutside = UINT_MAX;

// A tile is a small matrix: L indices of the long dimension, as many as fit, by all
// S of the short one. Its elements are numbered along its rows, which are
// `width` wide: S or L.
struct Numbered {
    unsigned row, column;
};
__device__ Numbered element(int j, FastDivisor width) {
    const unsigned k = threadIdx.x + j * kThreads;
    const unsigned row = width.quotient(k);
    return {row, k - row * width.divisor};
}

// `wide` and `high` are the extents of a tile of `in`: (S, L) or (L, S). In a tile of `out` they
// are swapped.
template <class T>
__global__ void transpose_short_rows_kernel(const __grid_constant__ Matrices x, FastDivisor high,
                                            FastDivisor wide, unsigned step_row,
                                            unsigned step_column) {
    // Row m, column n is at m * step_row + n * step_column. The step is 1 along
    // the short dimension and S or S + 1, whichever is odd, along the long one,
    // so that its neighbours are in different banks. S = 2 needs the most
    // memory, 1.5 times that of the elements.
    __shared__ T shared[kEach<T> * kThreads * 3 / 2];
    const Tile<T> tile = tile_of_block<T>(x, high.divisor, wide.divisor);
    const unsigned rows = tile.rows, columns = tile.columns;

    T value[kEach<T>];
    unsigned place[kEach<T>];
    for (int j = 0; j < kEach<T>; ++j) {
        const auto [m, n] = element(j, wide);
        const bool inside = m < rows && n < columns;
        place[j] = inside ? m * step_row + n * step_column : kOutside;
        if (inside) value[j] = tile.in[m * x.pitch_in + n];
    }
    __syncthreads();  // no store before the last load: see step 8
    for (int j = 0; j < kEach<T>; ++j) {
        if (place[j] != kOutside) shared[place[j]] = value[j];
    }
    __syncthreads();
    for (int j = 0; j < kEach<T>; ++j) {
        const auto [n, m] = element(j, high);
        if (m < rows && n < columns) {
            tile.out[n * x.pitch_out + m] = shared[m * step_row + n * step_column];
        }
    }
}

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    const bool in_short = x.N < x.M;  // the rows of in are short
    const std::int64_t S = in_short ? x.N : x.M;
    const std::int64_t L = kEach<T> * kThreads / S / 32 * 32;  // whole sectors
    const std::int64_t high = in_short ? L : S, wide = in_short ? S : L;
    const unsigned odd = static_cast<unsigned>(S | 1);
    const unsigned grid = cut_into_tiles(x, static_cast<int>(high), static_cast<int>(wide));
    transpose_short_rows_kernel<T><<<grid, kThreads, 0, stream>>>(
        x, FastDivisor(high), FastDivisor(wide), in_short ? odd : 1u, in_short ? 1u : odd);
    gpu::check_launch("transpose_short_rows_kernel", grid, kThreads);
}

}  // namespace

void launch_transpose_short_rows(const Matrices& x, gpu::Stream stream) {
    with_element(x.element, [&](auto element) { launch<decltype(element)>(x, stream); });
}

}  // namespace sixdays::day03_views
