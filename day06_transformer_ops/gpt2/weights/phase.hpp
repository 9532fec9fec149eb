/// @file
/// For .cu files: one phase of decoding a token, fused into one kernel.
///
///     before the wait   prefetch weights, norm parameters, bias: no kernel writes them
///     the wait          until the previous phase has ended
///     in                the block computes x (K) in shared memory: a norm, or attention's parts
///     the product       a warp has ROWS rows at a time; PARTS warps share a row's columns
///     out               one thread per row stores it: to the cache, to the stream, through GELU;
///                       its addends (a bias, the stream) were loaded while the block computed x
///
/// The phases differ in `In` and `Out`, two small objects for the phase's prologue and epilogue.
///
/// The same in its simplest form, for one warp per row, without prefetching:
///
///     __shared__ float x[K];
///     wait_for_previous();                    // the previous phase has ended
///     in(x, ...);                             // for example: x = norm(stream)
///     __syncthreads();
///     float sum = 0;
///     for (int k = lane; k < K; k += 32) sum += w(row, k) * x[k];
///     sum = warp_reduce(sum, Plus());
///     if (lane == 0) out(row, sum, ...);      // for example: stream[row] += bias[row] + sum
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/gpt2/weights/gpu_rows.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

namespace sixdays::gpt2 {

/// How a block distributes its rows: it has WARPS warps, and PARTS of them share ROWS rows. A lane
/// has EACH pieces of a row at a time; 0: as many as the type's slice has.
template <int WARPS_, int PARTS_, int ROWS_, int EACH_ = 0>
struct RowSplit {
    static constexpr int WARPS = WARPS_, PARTS = PARTS_, ROWS = ROWS_, EACH = EACH_;
    static constexpr int THREADS = 32 * WARPS, TILE = WARPS / PARTS * ROWS;  // rows per block
};

/// A distribution for types in runs, and one for the others. A block converts x for a type in runs
/// (integer_run.hpp), so it should have more rows.
template <class Most, class Runs>
struct ByType {
    static constexpr int THREADS = Most::THREADS;
    static_assert(Runs::THREADS == THREADS);
};
/// The RowSplit of C for rows of type W.
template <class C, class W>
struct SplitFor {
    using Split = C;  ///< C is a RowSplit
};
/// The one of two that W needs.
template <class Most, class Runs, class W>
struct SplitFor<ByType<Most, Runs>, W> {
    using Split = std::conditional_t<W::kWeights == kRun, Runs, Most>;  ///< Runs for types in runs
};

/// Columns that a warp reads with all its loads in flight. A run of 32 weights is one piece.
template <class C, class W>
inline constexpr int kSliceOf =
    C::EACH == 0 || W::kWeights == 32 ? W::kSlice : C::EACH * 32 * W::kWeights;

/// A slice of ROWS rows; each lane's part of it is in registers.
template <class W, int ROWS, int SLICE>
struct Pieces {
    static constexpr int kEach = SLICE / (32 * W::kWeights);
    typename W::Piece piece[ROWS][kEach];

    /// Beyond the last column there is 0. A sum beyond the last row is not stored.
    __device__ __forceinline__ void load(const W& w, int row, int column) {
        w.load(piece, row, column + static_cast<int>(threadIdx.x % 32) * W::kWeights);
    }
    /// @param x  the slice's columns; for weights in runs, the slice's IntegerRuns
    __device__ __forceinline__ void multiply(const float* x, float (&sum)[ROWS]) const {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int at = i * 32 + static_cast<int>(threadIdx.x % 32);
            if constexpr (W::kWeights == kRun) {
                multiply_run(reinterpret_cast<const IntegerRun*>(x)[at], i, sum);
            } else {
                multiply_piece(x + at * W::kWeights, i, sum);
            }
        }
    }

private:
    __device__ __forceinline__ void multiply_run(const IntegerRun& x, int i,
                                                 float (&sum)[ROWS]) const {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r] += W::dot(piece[r][i], x);
    }
    __device__ __forceinline__ void multiply_piece(const float* x, int i,
                                                   float (&sum)[ROWS]) const {
        float of_x[W::kWeights];
#pragma unroll
        for (int j = 0; j < W::kWeights; j += 4) {
            const float4 four = *reinterpret_cast<const float4*>(x + j);
            of_x[j] = four.x, of_x[j + 1] = four.y, of_x[j + 2] = four.z, of_x[j + 3] = four.w;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            float numbers[W::kWeights], dot = 0;
            W::numbers(piece[r][i], numbers);
#pragma unroll
            for (int j = 0; j < W::kWeights; ++j) dot += numbers[j] * of_x[j];
            sum[r] += W::scale(piece[r][i]) * dot;
        }
    }
};

/// Where column k of x is, in floats from the beginning; k is a multiple of a slice.
template <class W>
__device__ __forceinline__ int place_of(int k) {
    return W::kWeights == kRun ? k / kRun * static_cast<int>(sizeof(IntegerRun) / sizeof(float))
                               : k;
}

/// The sum of all lanes, and of the PARTS warps of a row, for the thread that stores it.
template <class C>
__device__ __forceinline__ float add_up(const float (&sum)[C::ROWS], int part, int first) {
    float total = 0;
    if constexpr (C::PARTS == 1) {  // lane r of the warp stores its row r
#pragma unroll
        for (int r = 0; r < C::ROWS; ++r) {
            const float of_row = gpu::warp_reduce(sum[r], gpu::Plus());
            if (static_cast<int>(threadIdx.x % 32) == r) total = of_row;
        }
    } else {  // thread i of the block stores its row i
        __shared__ float sums[C::TILE][C::PARTS];
        __syncthreads();  // the previous tile has been added up
#pragma unroll
        for (int r = 0; r < C::ROWS; ++r) {
            const float of_part = gpu::warp_reduce(sum[r], gpu::Plus());
            if (threadIdx.x % 32 == 0) sums[first + r][part] = of_part;
        }
        __syncthreads();
        if (threadIdx.x < C::TILE) {
            for (int p = 0; p < C::PARTS; ++p) total += sums[threadIdx.x][p];
        }
    }
    return total;
}

/// The phase's work of one of its blocks. @param block  its number, of `blocks`
template <class C, class W, class In, class Out>
__device__ __forceinline__ void phase(const W& w, const In& in, const Out& out, int block,
                                      int blocks) {
    extern __shared__ float4 shared[];  // x, then rows of K floats that `in` keeps
    float* const x = reinterpret_cast<float*>(shared);
    const int K = static_cast<int>(w.K), N = static_cast<int>(w.N);
    const int me = static_cast<int>(threadIdx.x), warp = me / 32, lane = me % 32;
    const int part = warp % C::PARTS, first = warp / C::PARTS * C::ROWS;
    const bool stores = C::PARTS == 1 ? lane < C::ROWS : me < C::TILE;
    const int stored = C::PARTS == 1 ? first + lane : me, turn = blocks * C::TILE;
    int tile = block * C::TILE;
    constexpr int SLICE = kSliceOf<C, W>;
    Pieces<W, C::ROWS, SLICE> pieces;
    pieces.load(w, tile + first, part * SLICE);
    in.before(x + padded(K, SLICE), K);
    gpu::wait_for_previous();

    typename Out::Added added = {};
    if (stores && tile + stored < N) added = out.load(tile + stored);
    if constexpr (W::kWeights == kRun && In::kOnlyCopies) {
        to_integer_runs<C::THREADS>(in.from, K, x, padded(K, SLICE) / kRun);
    } else {
        in(x, x + padded(K, SLICE), K);
#pragma unroll 1
        for (int k = K + me; k < padded(K, SLICE); k += C::THREADS) x[k] = 0;
        __syncthreads();
        if constexpr (W::kWeights == kRun) to_integer_runs<C::THREADS>(x, padded(K, SLICE) / kRun);
    }
    while (true) {
        float sum[C::ROWS] = {};
#pragma unroll 1
        for (int k = part * SLICE; k < K; k += C::PARTS * SLICE) {
            pieces.multiply(x + place_of<W>(k), sum);
            const int next = k + C::PARTS * SLICE;
            if (next < K) pieces.load(w, tile + first, next);
        }
        const int next = tile + turn;
        if (next < N) pieces.load(w, next + first, part * SLICE);
        const float total = add_up<C>(sum, part, first);
        if (stores && tile + stored < N) out(tile + stored, total, added);
        if (next >= N) return;
        tile = next;
        if (stores && tile + stored < N) added = out.load(tile + stored);
    }
}

template <class C, class W, class In, class Out>
__global__ void __launch_bounds__(C::THREADS)
    phase_kernel(const __grid_constant__ W w, const __grid_constant__ In in,
                 const __grid_constant__ Out out) {
    gpu::let_next_start();
    phase<C>(w, in, out, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
}

/// Two matrices of different types that have x in common: the first blocks have the rows of w.
template <class C, class W, class V, class In, class Out>
__global__ void __launch_bounds__(C::THREADS)
    two_types_kernel(const __grid_constant__ W w, const __grid_constant__ V v,
                     const __grid_constant__ In in, const __grid_constant__ Out out_w,
                     const __grid_constant__ Out out_v, int blocks_of_w) {
    gpu::let_next_start();
    const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    if (block < blocks_of_w) {
        phase<C>(w, in, out_w, block, blocks_of_w);
    } else {
        phase<C>(v, in, out_v, block - blocks_of_w, blocks - blocks_of_w);
    }
}

static_assert(kSharedAsked == gpu::kSharedOfAll);

/// Calls `use` with the rows of w, their RowSplit, the phase's kernel for them and its bytes of shared
/// memory. @tparam C  a RowSplit, or a ByType of two
template <class C, class In, class Out, class Use>
void with_phase_kernel(const DeviceMatrix& w, const Use& use) {
    with_rows(w, [&](auto rows) {
        using W = decltype(rows);
        using Split = typename SplitFor<C, W>::Split;
        const auto bytes =
            static_cast<std::size_t>(phase_bytes(w.K, In::kRowsKept, kSliceOf<Split, W>));
        const auto kernel = phase_kernel<Split, W, In, Out>;
        if (bytes + kPhaseVariables > kSharedUnasked) gpu::allow_shared(kernel, bytes);
        use(rows, Split{}, kernel, bytes);
    });
}

/// Blocks of the phase that are resident on the device at a time.
template <class C, class In, class Out>
unsigned resident_blocks(const DeviceMatrix& w) {
    int per_sm = 0;
    with_phase_kernel<C, In, Out>(w, [&](const auto&, auto, auto kernel, std::size_t bytes) {
        SIXDAYS_CUDA(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, C::THREADS, bytes));
    });
    return static_cast<unsigned>(per_sm * gpu::device().multiprocessors);
}

/// @param w     weights for which phase_fits() is true
/// @param most  largest number of blocks: further rows are processed in a loop
template <class C, class In, class Out>
void launch_phase(const DeviceMatrix& w, const In& in, const Out& out, gpu::Stream stream,
                  unsigned most = std::numeric_limits<int>::max()) {
    with_phase_kernel<C, In, Out>(
        w, [&](const auto& rows, auto split, auto kernel, std::size_t bytes) {
            const unsigned grid = std::min(gpu::blocks_for(w.N, split.TILE), most);
            kernel<<<grid, C::THREADS, bytes, stream>>>(rows, in, out);
            gpu::check_launch("phase_kernel", grid, C::THREADS, bytes);
        });
}

/// Are these the types of rows that files mix in q, k and v? Q4_K_M and Q5_K_M have Q6_K for some
/// matrices, or Q5_0 and Q8_0 where rows are not a multiple of 256.
template <class W, class V>
inline constexpr bool kMixed =
    std::is_same_v<V, RunRows<Q6KBlock>>
        ? std::is_same_v<W, RunRows<Q4KBlock>> || std::is_same_v<W, RunRows<Q5KBlock>>
        : std::is_same_v<V, Q8Rows>&& std::is_same_v<W, RunRows<Q5Block>>;

/// Multiplies by both matrices in one kernel. @returns whether their types are kMixed
template <class C, class W, class V, class In, class Out>
bool launch_two_types(const W& w, const V& v, const In& in, const Out& out_w, const Out& out_v,
                      gpu::Stream stream) {
    if constexpr (kMixed<W, V>) {
        const auto bytes =
            static_cast<std::size_t>(std::max(phase_bytes(w.K, In::kRowsKept, kSliceOf<C, W>),
                                              phase_bytes(v.K, In::kRowsKept, kSliceOf<C, V>)));
        const auto kernel = two_types_kernel<C, W, V, In, Out>;
        if (bytes + kPhaseVariables > kSharedUnasked) gpu::allow_shared(kernel, bytes);
        const unsigned of_w = gpu::blocks_for(w.N, C::TILE);
        const unsigned grid = of_w + gpu::blocks_for(v.N, C::TILE);
        kernel<<<grid, C::THREADS, bytes, stream>>>(w, v, in, out_w, out_v, static_cast<int>(of_w));
        gpu::check_launch("two_types_kernel", grid, C::THREADS, bytes);
        return true;
    }
    return false;
}

/// launch_phase() of two matrices with the same columns, in one kernel if their types are kMixed.
template <class C, class In, class Out>
void launch_phases(const DeviceMatrix& w, const DeviceMatrix& v, const In& in, const Out& out_w,
                   const Out& out_v, gpu::Stream stream) {
    with_rows(w, [&](const auto& rows) {
        with_rows(v, [&](const auto& others) {
            if (launch_two_types<C>(rows, others, in, out_w, out_v, stream)) return;
            launch_phase<C>(w, in, out_w, stream);
            launch_phase<C>(v, in, out_v, stream);
        });
    });
}

}  // namespace sixdays::gpt2
