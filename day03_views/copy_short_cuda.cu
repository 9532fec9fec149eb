// Short rows that lie one after the other without a gap: pixels of 3 channels, a table of 17
// columns. A block takes a piece of L rows. In memory the piece is one run, whatever S is, so it
// moves between memory and shared memory as it lies, 16 bytes a thread; only in shared memory does
// anybody ask which element belongs to which column. The columns move 16 bytes a thread too: E
// neighbours of one column, which in shared memory lie S apart.
//
//     piece, L x S    a0 b0 c0 a1 b1 c1 a2 b2 c2 ...    flat: element (l, s) at l * S + s
//     columns         a0 a1 a2 a3 ...   b0 b1 b2 b3 ...   c0 c1 c2 c3 ...
#include "common/gpu/launch.hpp"
#include "day03_views/moves.hpp"
#include "day03_views/steps/sixteen.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/steps/tile.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;   // loads of 16 bytes a thread
constexpr int kBytes = 16384;  // of shared memory

// Copies `n` elements that lie in one run, both ends at a multiple of 16 bytes.
template <class T>
__device__ void copy_flat(const T* in, int n, T* out) {
    constexpr int E = 16 / sizeof(T);
    for (int k = threadIdx.x; k < n / E; k += kInFlight * kThreads) {
        uint4 value[kInFlight];
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            if (i < n / E) value[j] = reinterpret_cast<const uint4*>(in)[i];
        }
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            if (i < n / E) reinterpret_cast<uint4*>(out)[i] = value[j];
        }
    }
    const int loose = n / E * E + threadIdx.x;
    if (loose < n) out[loose] = in[loose];
}

template <int E>
constexpr int kLog = E == 16 ? 4 : E / 4 + 1;  // E = 2^kLog

// E elements of one column, S apart in shared memory, as 16 bytes (at an edge the first `inside`
// of them); and back.
template <class T>
__device__ uint4 gathered(const T* from, int S, int inside) {
    constexpr int P = 4 / sizeof(T);  // elements in a word
    unsigned word[4] = {};
    for (int e = 0; e < 4 * P; ++e) {
        if (e < inside) word[e / P] |= unsigned{from[e * S]} << (8 * sizeof(T) * (e % P));
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}
template <class T>
__device__ void scatter(uint4 value, int S, T* to) {
    constexpr int P = 4 / sizeof(T);
    const unsigned word[4] = {value.x, value.y, value.z, value.w};
    for (int e = 0; e < 4 * P; ++e) {
        to[e * S] = static_cast<T>(word[e / P] >> (8 * sizeof(T) * (e % P)));
    }
}

// [rows to columns]
// in (M, S) without gaps, out (S, M). A piece has 2^log rows.
template <class T>
__global__ void copy_rows_to_columns_kernel(const __grid_constant__ Matrices x, int log) {
    constexpr int E = 16 / sizeof(T);
    __shared__ __align__(16) T shared[kBytes / sizeof(T)];
    const int S = static_cast<int>(x.N), groups = (1 << log) / E;  // of E rows
    const Tile<T> tile = tile_of_block<T>(x, 1 << log, S);
    copy_flat(tile.in, tile.rows * S, shared);
    __syncthreads();
    for (int k = threadIdx.x; k < S * groups; k += kThreads) {
        const int s = k >> (log - kLog<E>), first = (k & (groups - 1)) * E;
        if (first < tile.rows) {
            store_row(tile.out + s * x.pitch_out + first, tile.rows - first,
                      gathered(shared + first * S + s, S, tile.rows - first));
        }
    }
}
// [rows to columns]

// in (S, N), out (N, S) without gaps: the same backwards.
template <class T>
__global__ void copy_columns_to_rows_kernel(const __grid_constant__ Matrices x, int log) {
    constexpr int E = 16 / sizeof(T);
    __shared__ __align__(16) T shared[kBytes / sizeof(T)];
    const int S = static_cast<int>(x.M), groups = (1 << log) / E;
    const Tile<T> tile = tile_of_block<T>(x, S, 1 << log);
    for (int k = threadIdx.x; k < S * groups; k += kInFlight * kThreads) {
        uint4 value[kInFlight];
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            const int s = i >> (log - kLog<E>), first = (i & (groups - 1)) * E;
            if (i < S * groups && first < tile.columns) {
                value[j] = load_row(tile.in + s * x.pitch_in + first, tile.columns - first);
            }
        }
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            const int s = i >> (log - kLog<E>), first = (i & (groups - 1)) * E;
            if (i < S * groups && first < tile.columns)
                scatter(value[j], S, shared + first * S + s);
        }
    }
    __syncthreads();
    copy_flat(shared, tile.columns * S, tile.out);
}

}  // namespace

// --- launcher ------------------------------------------------------------------------------------
namespace {

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    const bool rows_are_short = x.N < x.M;
    const std::int64_t S = rows_are_short ? x.N : x.M;
    int log = 0;
    while ((S << (log + 1)) * sizeof(T) <= kBytes) ++log;
    if (rows_are_short) {
        const unsigned grid = cut_into_tiles(x, 1 << log, static_cast<int>(S));
        copy_rows_to_columns_kernel<T><<<grid, kThreads, 0, stream>>>(x, log);
        gpu::check_launch("copy_rows_to_columns_kernel", grid, kThreads);
    } else {
        const unsigned grid = cut_into_tiles(x, static_cast<int>(S), 1 << log);
        copy_columns_to_rows_kernel<T><<<grid, kThreads, 0, stream>>>(x, log);
        gpu::check_launch("copy_columns_to_rows_kernel", grid, kThreads);
    }
}

}  // namespace

bool short_rows_are_flat(const Matrices& x, int element) {
    if (element > 4) return false;
    const std::int64_t each = 16 / element;
    const auto whole = [&](std::int64_t elements) { return elements % each == 0; };
    bool yes = reinterpret_cast<std::uintptr_t>(x.in) % 16 == 0 &&
               reinterpret_cast<std::uintptr_t>(x.out) % 16 == 0;
    yes &= x.N < x.M ? x.pitch_in == x.N && whole(x.pitch_out)
                     : x.pitch_out == x.M && whole(x.pitch_in);
    for (int d = 0; d < x.dims; ++d) yes &= whole(x.step_in[d]) && whole(x.step_out[d]);
    return yes;
}

void launch_short_flat(const Matrices& x, int element, gpu::Stream stream) {
    if (element == 1) launch<std::uint8_t>(x, stream);
    if (element == 2) launch<std::uint16_t>(x, stream);
    if (element == 4) launch<std::uint32_t>(x, stream);
}

}  // namespace sixdays::day03_views
