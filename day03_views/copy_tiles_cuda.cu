// The ports of copy where `in` runs along another dim than `out`: both must be read and written
// along their runs, so the elements change places in shared memory. Two long dims are a transpose
// (steps/). Where one is short, 3 channels or 17 columns, a square tile would be mostly empty;
// then a block takes a flat piece: all of the short dim, and as much of the long one as fits.
#include <climits>

#include "common/gpu/launch.hpp"
#include "common/tensor/fast_division.hpp"
#include "day03_views/matrices.hpp"
#include "day03_views/moves.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/steps/tile.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// Elements a thread, 64 bytes under way if it can.
template <class T>
constexpr int kEach = sizeof(T) <= 4 ? 16 : 64 / sizeof(T);

constexpr unsigned kOutside = UINT_MAX;

// [short]
// A piece is a small matrix: L indices of the long dim, as many as fit, by all
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

// `wide` and `high` are the extents of a piece of `in`: (S, L) or (L, S). A
// piece of `out` has them the other way round.
template <class T>
__global__ void copy_short_rows_kernel(const __grid_constant__ Matrices x, FastDivisor high,
                                       FastDivisor wide, unsigned step_row, unsigned step_column) {
    // Row m, column n lies at m * step_row + n * step_column: along the short
    // dim 1, along the long one S or S + 1, whichever is odd, so that its
    // neighbours lie in different banks. S = 2 needs most room, half as much
    // again as there are elements.
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
    __syncthreads();  // no store before the last load: see steps/05_in_flight.cu
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
// [short]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

// The plan's two dims that run along memory, as a transpose.
Matrices matrices_of(const CopyPlan& plan) {
    return matrices_of(plan.in, plan.out, plan.out.layout.rank() - 1, plan.across);
}

template <class T>
void launch_short(Matrices x, gpu::Stream stream) {
    const bool in_short = x.N < x.M;  // rows of in are the short ones
    const std::int64_t S = in_short ? x.N : x.M;
    const std::int64_t L = kEach<T> * kThreads / S / 32 * 32;  // whole sectors of the long dim
    const std::int64_t high = in_short ? L : S, wide = in_short ? S : L;
    const unsigned odd = static_cast<unsigned>(S | 1);
    const unsigned grid = cut_into_tiles(x, static_cast<int>(high), static_cast<int>(wide));
    copy_short_rows_kernel<T><<<grid, kThreads, 0, stream>>>(
        x, FastDivisor(high), FastDivisor(wide), in_short ? odd : 1u, in_short ? 1u : odd);
    gpu::check_launch("copy_short_rows_kernel", grid, kThreads);
}

}  // namespace

void launch_short_rows(const CopyPlan& plan, gpu::Stream stream) {
    const Matrices x = matrices_of(plan);
    if (short_rows_are_flat(x, plan.in.element)) {
        return launch_short_flat(x, plan.in.element, stream);
    }
    with_element(plan.in.element, [&](auto e) { launch_short<decltype(e)>(x, stream); });
}

void launch_tiles(const CopyPlan& plan, gpu::Stream stream) {
    const Matrices x = matrices_of(plan);
    const int element = plan.in.element;
    if (element <= 4 && rows_begin_at_16(x, element)) {
        if (element == 4) return launch_sixteen_bytes(x, stream);
        return launch_packed_bytes(x, element, stream);
    }
    if (element == 2 || element == 4) return launch_whole_sectors(x, element, stream);
    launch_in_flight(x, element, stream);
}

}  // namespace sixdays::day03_views
