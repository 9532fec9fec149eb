// Step 10: short contiguous rows without gaps between them: pixels of 3 channels, a table of 17
// columns. A block takes a piece of L rows. In memory the piece is contiguous, whatever S is, so it
// moves to and from shared memory unchanged, 16 bytes per thread. Only in shared memory does it
// matter which element belongs to which column. Columns move 16 bytes at a time too: E neighbours
// of one column, which are S apart in shared memory.
//
//     piece, L x S    a0 b0 c0 a1 b1 c1 a2 b2 c2 ...    flat: element (l, s) at l * S + s
//     columns         a0 a1 a2 a3 ...   b0 b1 b2 b3 ...   c0 c1 c2 c3 ...
//
// E rows are a group of S * 16 bytes. Neighbouring threads take neighbouring groups, so a group
// must be an odd number of 16-byte units long to avoid bank conflicts. Where S is even, 16 bytes
// after each group are left unused.
#include "common/gpu/launch.hpp"
#include "common/tensor/fast_division.hpp"
#include "day03_views/steps/transpose/edge.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/steps/transpose/tile.hpp"

namespace sixdays::day03_views {

namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;   // 16-byte accesses per thread
constexpr int kBytes = 16384;  // of shared memory

// A piece in shared memory: `S` columns, groups of `pitch` elements.
struct Groups {
    FastDivisor S;
    int pitch;

    // Start of 16-byte unit `k` of the piece.
    template <int E>
    __device__ int vector(unsigned k) const {
        const unsigned group = S.quotient(k);
        return static_cast<int>(group) * pitch + static_cast<int>(k - group * S.divisor) * E;
    }
};

// Moves the n elements of a piece to or from shared memory, 16 bytes at a time.
template <class T, bool TO_SHARED>
__device__ void move_flat(T* memory, int n, const Groups& groups, T* shared) {
    constexpr int E = 16 / sizeof(T);
    for (int k = threadIdx.x; k < n / E; k += kInFlight * kThreads) {
        uint4 value[kInFlight];
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            const T* from = TO_SHARED ? memory + i * E : shared + groups.vector<E>(i);
            if (i < n / E) value[j] = *reinterpret_cast<const uint4*>(from);
        }
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            T* to = TO_SHARED ? shared + groups.vector<E>(i) : memory + i * E;
            if (i < n / E) *reinterpret_cast<uint4*>(to) = value[j];
        }
    }
    const int scalars = n / E * E + threadIdx.x;
    if (scalars >= n) return;
    const int place = groups.vector<E>(scalars / E) + scalars % E;
    if (TO_SHARED) {
        shared[place] = memory[scalars];
    } else {
        memory[scalars] = shared[place];
    }
}

template <int E>
constexpr int kLog = E == 16 ? 4 : E / 4 + 1;  // E = 2^kLog

// E elements of one column, S apart in shared memory, as 16 bytes (at an edge only the first
// `inside`); and back.
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
__global__ void transpose_rows_to_columns_kernel(const __grid_constant__ Matrices x, int log,
                                                 Groups groups) {
    constexpr int E = 16 / sizeof(T);
    __shared__ __align__(16) T shared[kBytes / sizeof(T)];
    const int S = static_cast<int>(x.N), many = (1 << log) / E;  // groups of a piece
    const Tile<T> tile = tile_of_block<T>(x, 1 << log, S);
    move_flat<T, true>(const_cast<T*>(tile.in), tile.rows * S, groups, shared);
    __syncthreads();
    for (int k = threadIdx.x; k < S * many; k += kThreads) {
        const int s = k >> (log - kLog<E>), group = k & (many - 1);
        const int inside = tile.rows - group * E;
        if (inside > 0) {
            store_vector(tile.out + s * x.pitch_out + group * E, inside,
                         gathered(shared + group * groups.pitch + s, S, inside));
        }
    }
}
// [rows to columns]

// in (S, N), out (N, S) without gaps: the inverse.
template <class T>
__global__ void transpose_columns_to_rows_kernel(const __grid_constant__ Matrices x, int log,
                                                 Groups groups) {
    constexpr int E = 16 / sizeof(T);
    __shared__ __align__(16) T shared[kBytes / sizeof(T)];
    const int S = static_cast<int>(x.M), many = (1 << log) / E;
    const Tile<T> tile = tile_of_block<T>(x, S, 1 << log);
    for (int k = threadIdx.x; k < S * many; k += kInFlight * kThreads) {
        uint4 value[kInFlight];
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            const int s = i >> (log - kLog<E>), first = (i & (many - 1)) * E;
            if (i < S * many && first < tile.columns) {
                value[j] = load_vector(tile.in + s * x.pitch_in + first, tile.columns - first);
            }
        }
        for (int j = 0; j < kInFlight; ++j) {
            const int i = k + j * kThreads;
            const int s = i >> (log - kLog<E>), group = i & (many - 1);
            if (i < S * many && group * E < tile.columns) {
                scatter(value[j], S, shared + group * groups.pitch + s);
            }
        }
    }
    __syncthreads();
    move_flat<T, false>(tile.out, tile.columns * S, groups, shared);
}

template <class T>
void launch(Matrices x, gpu::Stream stream) {
    const bool rows_are_short = x.N < x.M;
    const std::int64_t S = rows_are_short ? x.N : x.M;
    constexpr std::int64_t E = 16 / sizeof(T);
    const std::int64_t vectors = S % 2 == 0 ? S + 1 : S;  // per group
    const Groups groups{FastDivisor(S), static_cast<int>(vectors * E)};
    int log = kLog<E>;
    while ((vectors << (log + 1)) * sizeof(T) <= kBytes) ++log;
    if (rows_are_short) {
        const unsigned grid = cut_into_tiles(x, 1 << log, static_cast<int>(S));
        transpose_rows_to_columns_kernel<T><<<grid, kThreads, 0, stream>>>(x, log, groups);
        gpu::check_launch("transpose_rows_to_columns_kernel", grid, kThreads);
    } else {
        const unsigned grid = cut_into_tiles(x, static_cast<int>(S), 1 << log);
        transpose_columns_to_rows_kernel<T><<<grid, kThreads, 0, stream>>>(x, log, groups);
        gpu::check_launch("transpose_columns_to_rows_kernel", grid, kThreads);
    }
}

}  // namespace

void launch_transpose_short_rows_vectorized(const Matrices& x, gpu::Stream stream) {
    if (x.element == 1) launch<std::uint8_t>(x, stream);
    if (x.element == 2) launch<std::uint16_t>(x, stream);
    if (x.element == 4) launch<std::uint32_t>(x, stream);
}

}  // namespace sixdays::day03_views
