// Step 14, outside the ladder: few rows of a, as when a model decodes one token. Then every element
// of b is used at most 16 times, and the goal is to read b once, at memory bandwidth. So b has no
// tile: a thread fetches its own elements several iterations ahead of the multiply-adds, and holds
// the sums of all rows for its columns; the threads of a block share K. The rows of a, which all of
// them need, are in shared memory, as much of K at a time as fits into 32 KiB. Where b is
// contiguous along N, lanes run along N; where it is contiguous along K, as a weight stored (N, K),
// they run along K and reduce by shuffles. Few columns are the same case, transposed.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/steps/matmul/vectors.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kDeep = 4;       // consecutive k's per thread
constexpr int kShared = 8192;  // floats: M rows of a, or the partial sums of the warps
constexpr int kStages = 4;     // stages of b: one is multiplied, three are in flight
template <int M>
constexpr int kChunk = kShared / M;  // the part of K of the rows of a that fits

/// Elements k to k + 3 of a row along K; zeros past its end.
__device__ __forceinline__ void load_four(const float* row, std::int64_t step, std::int64_t k,
                                          std::int64_t K, bool vectors, float (&to)[kDeep]) {
    if (vectors && k + kDeep <= K) return load_vector(row + k, to);
#pragma unroll
    for (int q = 0; q < kDeep; ++q) to[q] = k + q < K ? row[(k + q) * step] : 0;
}

/// rows[m * kChunk + i] = a(m, k0 + i), for the tile's rows; past them, the first row again.
template <int M>
__device__ __forceinline__ void share_rows(const Problem& x, const Tile& tile, std::int64_t k0,
                                           float* rows) {
    __syncthreads();  // all threads have read the previous chunk
#pragma unroll
    for (int i = threadIdx.x * kDeep; i < kShared; i += kThreads * kDeep) {
        const int m = i / kChunk<M>, k = i % kChunk<M>;
        if (k0 + k >= x.K) continue;
        float four[kDeep];
        load_four(tile.a + (m < tile.rows ? m : 0) * x.a_m, x.a_k, k0 + k, x.K, x.vectors_a, four);
        store_vector(rows + i, four);
    }
    __syncthreads();
}

/// Adds up the sums of the PARTS parts of the block, some rows at a time, and stores them: BN
/// outputs of each of M rows. A thread's sums of row m belong to columns n to n + WIDE - 1.
template <int M, int BN, int PARTS, int WIDE>
__device__ __forceinline__ void add_parts(const Problem& x, const Tile& tile, bool mine, int part,
                                          int n, const float (&sum)[M][WIDE], float* shared) {
    constexpr int kRows = kShared / (PARTS * BN) < M ? kShared / (PARTS * BN) : M;
#pragma unroll
    for (int m0 = 0; m0 < M; m0 += kRows) {
        __syncthreads();  // no thread reads a, or the previous rows, any more
#pragma unroll
        for (int m = m0; m < m0 + kRows; ++m) {
#pragma unroll
            for (int j = 0; j < WIDE; ++j) {
                if (mine) shared[(part * kRows + m - m0) * BN + n + j] = sum[m][j];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < kRows * BN; i += kThreads) {
            float all = 0;
            for (int p = 0; p < PARTS; ++p) all += shared[p * kRows * BN + i];
            const int m = m0 + i / BN, column = i % BN;
            if (m < tile.rows && column < tile.columns) store(x, tile, m, column, all);
        }
    }
}

template <int WIDE>
constexpr int kRing = kStages* kDeep* kThreads* WIDE;

/// b along N: LINE lanes of a warp have WIDE columns each; its other lanes, if any, have other k's.
/// Only the thread that copies an element to the ring reads it: no barrier.
template <int M, int LINE, int WIDE>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_skinny_rows_kernel(const __grid_constant__ Problem x) {
    constexpr int BN = LINE * WIDE, kSweep = kThreads / LINE * kDeep;
    static_assert(kChunk<M> % kSweep == 0);
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const shared = tiles.next<float>(kShared);
    float* const ring = tiles.next<float>(kRing<WIDE>) + threadIdx.x * WIDE;
    const Tile tile = tile_of_block(x, M, BN);
    const int n = threadIdx.x % LINE * WIDE, own = threadIdx.x / LINE * kDeep;
    const float* b = tile.b + own * x.b_k + (n < tile.columns ? n * x.b_n : 0);
    int stage = 0;
    const auto start = [&](std::int64_t left) {  // the next elements of b, of which K has `left`
#pragma unroll
        for (int q = 0; q < kDeep; ++q) {
            gpu::copy_async<4 * WIDE>(ring + (stage * kDeep + q) * kThreads * WIDE,
                                      q < left ? b + q * x.b_k : tile.b, q < left ? 4 * WIDE : 0);
        }
        gpu::copy_async_commit();
        b += kSweep * x.b_k;
        stage = (stage + 1) % kStages;
    };
    float sum[M][WIDE] = {};
    for (int s = 0; s < kStages - 1; ++s) start(x.K - own - s * kSweep);
    for (std::int64_t k0 = 0; k0 < x.K; k0 += kChunk<M>) {
        share_rows<M>(x, tile, k0, shared);
        const std::int64_t left = x.K - k0;
#pragma unroll(M <= 8 ? 2 : 1)
        for (int k = own; k < kChunk<M> && k < left; k += kSweep) {
            start(left - k - (kStages - 1) * kSweep);
            gpu::copy_async_wait<kStages - 1>();  // the oldest stage has arrived
            float rb[kDeep][WIDE];
#pragma unroll
            for (int q = 0; q < kDeep; ++q) {
                const float* const from = ring + (stage * kDeep + q) * kThreads * WIDE;
                if constexpr (WIDE == 1) rb[q][0] = *from;
                if constexpr (WIDE == 4) load_vector(from, rb[q]);
            }
#pragma unroll
            for (int m = 0; m < M; ++m) {
                float ra[kDeep];
                load_vector(shared + m * kChunk<M> + k, ra);
#pragma unroll
                for (int q = 0; q < kDeep; ++q) {
#pragma unroll
                    for (int j = 0; j < WIDE; ++j) sum[m][j] += ra[q] * rb[q][j];
                }
            }
        }
    }
    gpu::copy_async_wait<0>();
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int j = 0; j < WIDE; ++j) {
            for (int lane = LINE; lane < 32; lane *= 2) {
                sum[m][j] += __shfl_xor_sync(0xffffffff, sum[m][j], lane);
            }
        }
    }
    add_parts<M, BN, kWarps>(x, tile, threadIdx.x % 32 < LINE, threadIdx.x / 32, n, sum, shared);
}

/// b along K: a warp has 4 columns of b, its lanes run along k. PARTS warps share K.
template <int M, int PARTS>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_skinny_dots_kernel(const __grid_constant__ Problem x) {
    constexpr int kColumns = 4, BN = kWarps / PARTS * kColumns, kSweep = PARTS * 32 * kDeep;
    static_assert(kChunk<M> % kSweep == 0);
    __shared__ __align__(16) float shared[kShared];
    const Tile tile = tile_of_block(x, M, BN);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % PARTS;
    const int n = warp / PARTS * kColumns, own = (part * 32 + lane) * kDeep;
    struct Numbers {
        float of[kColumns][kDeep];
    };
    const auto load = [&](std::int64_t k) {
        Numbers to;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const float* const column = tile.b + (n + j < tile.columns ? n + j : 0) * x.b_n;
            load_four(column, x.b_k, k, x.K, x.vectors_b, to.of[j]);
        }
        return to;
    };
    float sum[M][kColumns] = {};
    Numbers rb = load(own);
    for (std::int64_t k0 = 0; k0 < x.K; k0 += kChunk<M>) {
        share_rows<M>(x, tile, k0, shared);
        const std::int64_t left = x.K - k0;
#pragma unroll(M <= 4 ? 2 : 1)
        for (int k = own; k < kChunk<M> && k < left; k += kSweep) {
            const Numbers next = load(k0 + k + kSweep);  // in flight
#pragma unroll
            for (int m = 0; m < M; ++m) {
                float ra[kDeep];
                load_vector(shared + m * kChunk<M> + k, ra);
#pragma unroll
                for (int j = 0; j < kColumns; ++j) {
#pragma unroll
                    for (int q = 0; q < kDeep; ++q) sum[m][j] += ra[q] * rb.of[j][q];
                }
            }
            rb = next;
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            for (int other = 16; other > 0; other /= 2) {
                sum[m][j] += __shfl_xor_sync(0xffffffff, sum[m][j], other);
            }
        }
    }
    add_parts<M, BN, PARTS>(x, tile, lane == 0, part, n, sum, shared);
}

template <int M, int LINE, int WIDE>
void launch_rows(Problem x, gpu::Stream stream) {
    constexpr std::size_t kBytes =
        gpu::tile_bytes<float>(kShared) + gpu::tile_bytes<float>(kRing<WIDE>);
    static_assert(kBytes <= gpu::kSharedOfAll);
    const unsigned grid = cut_into_tiles(x, M, LINE * WIDE);
    auto* const kernel = matmul_skinny_rows_kernel<M, LINE, WIDE>;
    gpu::allow_shared(kernel, kBytes);
    matmul_skinny_rows_kernel<M, LINE, WIDE><<<grid, kThreads, kBytes, stream>>>(x);
    gpu::check_launch("matmul_skinny_rows_kernel", grid, kThreads, kBytes);
}

template <int M, int PARTS>
void launch_dots(Problem x, gpu::Stream stream) {
    const unsigned grid = cut_into_tiles(x, M, kWarps / PARTS * 4);
    matmul_skinny_dots_kernel<M, PARTS><<<grid, kThreads, 0, stream>>>(x);
    gpu::check_launch("matmul_skinny_dots_kernel", grid, kThreads);
}

/// Wide blocks read a less often; narrow ones are more numerous and keep more SMs busy. Measured:
/// blocks of 32 columns are faster as soon as a third of the SMs has one.
template <int M>
void launch(Problem x, gpu::Stream stream) {
    const std::int64_t rows = (x.M + M - 1) / M * stacked(x);
    const auto blocks = [&](std::int64_t BN) { return (x.N + BN - 1) / BN * rows; };
    x.vectors_a = a_has_vectors(x);
    x.vectors_b = b_columns_are_vectors(x);
    if (x.b_k == 1 && x.b_n != 1) {
        if (blocks(kWarps * 4) >= x.multiprocessors) return launch_dots<M, 1>(x, stream);
        return launch_dots<M, (M > 8 ? 4 : kWarps)>(x, stream);
    }
    if (x.N % 4 != 0 || !b_has_vectors(x)) return launch_rows<M, 32, 1>(x, stream);
    if (blocks(128) >= x.multiprocessors) return launch_rows<M, 32, 4>(x, stream);
    if (3 * blocks(32) > x.multiprocessors) return launch_rows<M, 8, 4>(x, stream);
    return launch_rows<M, 2, 4>(x, stream);
}

}  // namespace

void launch_matmul_skinny(Problem x, gpu::Stream stream) {
    if (x.M > x.N) x = transposed(x);
    if (x.M == 1) return launch<1>(x, stream);
    if (x.M == 2) return launch<2>(x, stream);
    if (x.M <= 4) return launch<4>(x, stream);
    if (x.M <= 8) return launch<8>(x, stream);
    return launch<16>(x, stream);
}

}  // namespace sixdays::day05_matmul
