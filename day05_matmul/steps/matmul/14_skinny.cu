// Step 14, beside the ladder: few rows of a, as when a model reads one token. Then every number of b
// is multiplied 16 times at most, and what counts is to read b once, at the speed of memory. So
// there is no tile: each thread holds the sums of all rows for its columns, and the threads of a
// block share K. Where b lies along N, lanes lie along N; where it lies along K, as a weight stored
// (N, K), they lie along K, and add up by shuffles. Few columns are the same thing, transposed.
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/quads.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

// Threads a block: more where a thread has few sums, so that enough of b is in flight; fewer where
// the sums take so many registers that more would not fit.
template <int M>
constexpr int kThreads = M <= 2 ? 512 : 256;
template <int M>
constexpr int kWarps = kThreads<M> / 32;
constexpr int kDeep = 4;  // k's that a thread takes in a row

/// Numbers k to k + 3 of a row of K; zeros where K has ended.
__device__ __forceinline__ void load_four(const float* row, std::int64_t step, std::int64_t k,
                                          std::int64_t K, bool quads, float (&to)[kDeep]) {
    if (quads && k + kDeep <= K) return load_quad(row + k, to);
#pragma unroll
    for (int q = 0; q < kDeep; ++q) to[q] = k + q < K ? row[(k + q) * step] : 0;
}

/// Adds up what PARTS of the block have, and stores it: BN outputs of each of M rows.
template <int M, int BN, int PARTS>
__device__ __forceinline__ void add_parts(const Problem& x, const Tile& tile, const float* sums) {
    __syncthreads();
    for (int i = threadIdx.x; i < M * BN; i += kThreads<M>) {
        const int m = i / BN, n = i % BN;
        float sum = 0;
        for (int part = 0; part < PARTS; ++part) sum += sums[part * M * BN + i];
        if (m < tile.rows && n < tile.columns) store(x, tile, m, n, sum);
    }
}

// [rows]
/// b along N: a thread has WIDE columns, a warp BN of them; its other lanes, if any, have other k.
template <int M, int WIDE, int BN>
__global__ void __launch_bounds__(kThreads<M>)
    matmul_skinny_rows_kernel(const __grid_constant__ Problem x) {
    constexpr int kLine = BN / WIDE, kGroups = kThreads<M> / kLine;
    __shared__ float sums[kWarps<M> * M * BN];
    const Tile tile = tile_of_block(x, M, BN);
    const int n = threadIdx.x % kLine * WIDE, group = threadIdx.x / kLine;
    const bool inside = n < tile.columns;
    const float* const b = tile.b + (inside ? n * x.b_n : 0);
    float sum[M][WIDE] = {};
#pragma unroll 2
    for (std::int64_t k = group * kDeep; k < x.K; k += kGroups * kDeep) {
        float rb[kDeep][WIDE] = {};
#pragma unroll
        for (int q = 0; q < kDeep; ++q) {
            if (k + q >= x.K || !inside) continue;
            if constexpr (WIDE == 4) load_quad(b + (k + q) * x.b_k, rb[q]);
            if constexpr (WIDE == 1) rb[q][0] = b[(k + q) * x.b_k];
        }
#pragma unroll
        for (int m = 0; m < M; ++m) {
            float ra[kDeep];
            const int row = m < tile.rows ? m : 0;  // some row: it will not be stored
            load_four(tile.a + row * x.a_m, x.a_k, k, x.K, x.quads_a, ra);
#pragma unroll
            for (int q = 0; q < kDeep; ++q) {
#pragma unroll
                for (int j = 0; j < WIDE; ++j) sum[m][j] += ra[q] * rb[q][j];
            }
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int j = 0; j < WIDE; ++j) {
            for (int lane = kLine; lane < 32; lane *= 2) {
                sum[m][j] += __shfl_xor_sync(0xffffffff, sum[m][j], lane);
            }
            const int at = threadIdx.x / 32 * M * BN + m * BN + n + j;
            if (threadIdx.x % 32 < kLine) sums[at] = sum[m][j];
        }
    }
    add_parts<M, BN, kWarps<M>>(x, tile, sums);
}
// [rows]

// [dots]
/// b along K: a warp has 4 columns of b, its lanes lie along k. Where K is long, the warps of a
/// block share it (SHARE = 16); else each has columns of its own (SHARE = 1).
template <int M, int SHARE>
__global__ void __launch_bounds__(kThreads<M>)
    matmul_skinny_dots_kernel(const __grid_constant__ Problem x) {
    constexpr int kColumns = 4, BN = kWarps<M> / SHARE * kColumns;
    __shared__ float sums[SHARE * M * BN];
    const Tile tile = tile_of_block(x, M, BN);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int n = warp / SHARE * kColumns, part = warp % SHARE;
    float sum[M][kColumns] = {};
    for (std::int64_t k = (part * 32 + lane) * kDeep; k < x.K; k += SHARE * 32 * kDeep) {
        float rb[kColumns][kDeep];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const int column = n + j < tile.columns ? n + j : 0;
            load_four(tile.b + column * x.b_n, x.b_k, k, x.K, x.quads_b, rb[j]);
        }
#pragma unroll
        for (int m = 0; m < M; ++m) {
            float ra[kDeep];
            const int row = m < tile.rows ? m : 0;
            load_four(tile.a + row * x.a_m, x.a_k, k, x.K, x.quads_a, ra);
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
#pragma unroll
                for (int q = 0; q < kDeep; ++q) sum[m][j] += ra[q] * rb[j][q];
            }
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            for (int other = 16; other > 0; other /= 2) {
                sum[m][j] += __shfl_xor_sync(0xffffffff, sum[m][j], other);
            }
            if (lane == 0) sums[(part * M + m) * BN + n + j] = sum[m][j];
        }
    }
    add_parts<M, BN, SHARE>(x, tile, sums);
}
// [dots]

template <int M>
void launch(Problem x, gpu::Stream stream) {
    x.quads_a = a_has_quads(x);
    if (x.b_k == 1 && x.b_n != 1) {
        x.quads_b = b_columns_are_quads(x);
        if (x.K < 4096) {
            const unsigned grid = cut_into_tiles(x, M, 4 * kWarps<M>);
            matmul_skinny_dots_kernel<M, 1><<<grid, kThreads<M>, 0, stream>>>(x);
            return gpu::check_launch("matmul_skinny_dots_kernel", grid, kThreads<M>);
        }
        const unsigned grid = cut_into_tiles(x, M, 4);
        matmul_skinny_dots_kernel<M, kWarps<M>><<<grid, kThreads<M>, 0, stream>>>(x);
        return gpu::check_launch("matmul_skinny_dots_kernel", grid, kThreads<M>);
    }
    // Wide blocks read a less often; narrow ones are more.
    const bool quads = x.N % 4 == 0 && b_has_quads(x), wide = quads && x.N >= 64 * 132;
    const unsigned grid = cut_into_tiles(x, M, wide ? 64 : 32);
    if (wide) {
        matmul_skinny_rows_kernel<M, 4, 64><<<grid, kThreads<M>, 0, stream>>>(x);
    } else if (quads) {
        matmul_skinny_rows_kernel<M, 4, 32><<<grid, kThreads<M>, 0, stream>>>(x);
    } else {
        matmul_skinny_rows_kernel<M, 1, 32><<<grid, kThreads<M>, 0, stream>>>(x);
    }
    gpu::check_launch("matmul_skinny_rows_kernel", grid, kThreads<M>);
}

}  // namespace

void launch_matmul_skinny(Problem x, gpu::Stream stream) {
    if (x.M > kSkinny) x = transposed(x);
    if (x.M == 1) return launch<1>(x, stream);
    if (x.M == 2) return launch<2>(x, stream);
    if (x.M <= 4) return launch<4>(x, stream);
    if (x.M <= 8) return launch<8>(x, stream);
    return launch<16>(x, stream);
}

}  // namespace sixdays::day05_matmul
