// Step 2: all products on tensor cores. One kernel owns queries and loops over keys, the other owns
// keys and loops over queries, and both are the same code: a block owns 64 rows, 16 per warp. Two
// products with a tile of 64 others give scores and d_weight as accumulators of a tensor core; the
// weights and slopes made from them are the operand of the next products, without ever leaving
// registers.
//
//              owned rows   others   first product    second product    out
//     queries  q, grad      k, v     q kᵀ, grad vᵀ    d_score k         d_q
//     keys     k, v         q, grad  k qᵀ, v gradᵀ    d_scoreᵀ q        d_k
//                                                     weightᵀ grad      d_v
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/attention_bf16/steps/place.hpp"
#include "day06_transformer_ops/training/bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using day05_matmul::load_a, day05_matmul::load_b, day05_matmul::load_b_across;

constexpr float kLog2OfE = 1.44269504f;  // exp(x) is exp2(x * log2(e))

// --- per-query results that both kernels need ----------------------------------------------------

constexpr int kWarps = 4, kAtOnce = 4, kQueriesOfWarp = 4 * kAtOnce;

// One warp takes some queries of one head: it rounds their gradients, and computes log_sum (that of
// exp2) and delta of each. delta uses the rounded gradient, like d_weight. Four queries are loaded
// before the first of them is stored.
template <int HEAD>
__global__ void softmaxed_kernel(const __grid_constant__ AttentionBackwardBf16 p,
                                 unsigned blocks_of_head) {
    constexpr int EACH = HEAD / 32;  // elements of a query per lane
    const std::int64_t head = blockIdx.x / blocks_of_head;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const HeadOf<const float> grad = p.grad[head], log_sums = p.log_sums[head];
    const HeadOf<const bf16> out = p.out[head];
    std::int64_t t = (std::int64_t{blockIdx.x % blocks_of_head} * kWarps + warp) * kQueriesOfWarp;
    const std::int64_t end = min(t + kQueriesOfWarp, p.T);
    for (; t < end; t += kAtOnce) {
        bf16 g[kAtOnce][EACH], o[kAtOnce][EACH];
#pragma unroll
        for (int i = 0; i < kAtOnce * EACH; ++i) {
            const std::int64_t r = t + i / EACH, d = lane + i % EACH * 32;
            const bool there = r < end && d < p.D;
            g[i / EACH][i % EACH] = bf16(there ? grad(r, d) : 0);
            o[i / EACH][i % EACH] = there ? out(r, d) : bf16(0.0f);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const std::int64_t r = t + i;
            if (r >= end) break;
            float delta = 0;
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const std::int64_t d = lane + e * 32;
                if (d < p.D) p.rounded.data[(head * p.T + r) * p.D + d] = g[i][e];
                delta += float(g[i][e]) * float(o[i][e]);
            }
            delta = gpu::warp_reduce(delta, gpu::Plus());
            if (lane == 0) {
                p.softmaxed.data[head * p.T + r] = {log_sums(r, 0) * kLog2OfE, delta};
            }
        }
    }
}

// --- main loop -----------------------------------------------------------------------------------

/// HEAD is D rounded up to 64 or 128, with zeros beyond D.
template <int HEAD, bool BY_KEYS>
struct CutBack {
    using Element = bf16;
    static constexpr int kHead = HEAD, kRows = 64, kThreads = 128, kStages = 2;
    static constexpr bool kByKeys = BY_KEYS;
    // Blocks per SM: more of them pay off, although the keys' kernel then spills some sums.
    static constexpr int kBlocks = HEAD > 64 ? 2 : BY_KEYS ? 3 : 4;
    static constexpr std::size_t kBytes = 2 * (1 + kStages) * gpu::tile_bytes<bf16>(kRows * HEAD) +
                                          kStages * gpu::tile_bytes<Softmaxed>(kRows);
};
template <class C>
using TileBack = Panel<bf16, C::kRows>;
template <class C>
using SumsBack = float[C::kHead / 8][4];
using PairsBack = float[8][4];  // a warp's 16 rows with 64 others

/// sums = a bᵀ, for the warp's 16 rows of a and 64 rows of b.
template <class C>
__device__ __forceinline__ void multiply_rows(PairsBack& sums, TileBack<C> a, TileBack<C> b) {
    const int first = threadIdx.x / 32 * 16;
#pragma unroll
    for (auto& four : sums) four[0] = four[1] = four[2] = four[3] = 0;
#pragma unroll
    for (int d = 0; d < C::kHead; d += 16) {
        std::uint32_t mine[4];
        load_a(mine, a, first, d);
#pragma unroll
        for (int n = 0; n < C::kRows; n += 16) {
            std::uint32_t other[2][2];
            load_b(other, b, d, n);
            gpu::mma_16x8x16<bf16>(sums[n / 8], mine, other[0]);
            gpu::mma_16x8x16<bf16>(sums[n / 8 + 1], mine, other[1]);
        }
    }
}

/// sums += pairs . rows: 16 rows of pairs, rounded, with the 64 rows of a tile. An accumulator has
/// the register layout of an operand (make_weights() in attention_bf16/steps/warp.hpp).
template <class C>
__device__ __forceinline__ void add_rows(SumsBack<C>& sums, const PairsBack& pairs,
                                         TileBack<C> rows) {
#pragma unroll
    for (int k = 0; k < C::kRows; k += 16) {
        std::uint32_t mine[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float* const pair = &pairs[k / 8 + j / 2][j % 2 * 2];
            mine[j] = gpu::pack<bf16>(pair[0], pair[1]);
        }
#pragma unroll
        for (int d = 0; d < C::kHead; d += 16) {
            std::uint32_t other[2][2];
            load_b_across(other, rows, k, d);
            gpu::mma_16x8x16<bf16>(sums[d / 8], mine, other[0]);
            gpu::mma_16x8x16<bf16>(sums[d / 8 + 1], mine, other[1]);
        }
    }
}

/// Turns `pairs` = q . k and `slopes` = grad . v into weight and d_score, in place.
/// @param of    log_sum and delta of the query of element (i, e)
/// @param seen  for an element: does its query see its key? ALL: each does
template <bool ALL, class Of, class Seen>
__device__ __forceinline__ void make_slopes(PairsBack& pairs, PairsBack& slopes, float scale,
                                            const Of& of, const Seen& seen) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const Softmaxed query = of(i, e);
            const float weight = exp2f(fmaf(pairs[i][e], scale, -query.log_sum));
            const bool counts = ALL || seen(i, e);
            pairs[i][e] = counts ? weight : 0;
            slopes[i][e] = counts ? weight * (slopes[i][e] - query.delta) : 0;
        }
    }
}

/// The warp's 16 rows of sums, times factor.
template <class C>
__device__ __forceinline__ void store_rows(const SumsBack<C>& sums, float factor,
                                           const HeadOf<bf16>& to, std::int64_t first,
                                           std::int64_t rows, std::int64_t D) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const std::int64_t r = first + lane / 4 + 8 * h;
        if (r >= rows) continue;
        bf16* const row = to.first + r * to.along_rows + lane % 4 * 2;
#pragma unroll
        for (int d = 0; d < C::kHead; d += 8) {
            if (d >= D) break;  // D is a multiple of a vector
            const float* const pair = &sums[d / 8][2 * h];
            *reinterpret_cast<std::uint32_t*>(row + d) =
                gpu::pack<bf16>(factor * pair[0], factor * pair[1]);
        }
    }
}

/// Rows of a head from row `first` on.
template <class C>
__device__ __forceinline__ Copies<C, C::kRows> rows_from(const HeadOf<const bf16>& head,
                                                         std::int64_t first, std::int64_t end,
                                                         std::int64_t D) {
    return {head.first + first * head.along_rows, head.along_rows, end - first, D};
}

// Block b has rows of head b % heads. The longest ones come first: the last queries, the first
// keys.
template <class C>
__global__ void __launch_bounds__(C::kThreads, C::kBlocks)
    attention_backward_kernel(const __grid_constant__ AttentionBackwardBf16 p, unsigned heads) {
    constexpr int ROWS = C::kRows, STAGES = C::kStages;
    extern __shared__ __align__(128) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    const TileBack<C> mine_a{tiles.next<bf16>(ROWS * C::kHead)};
    const TileBack<C> mine_b{tiles.next<bf16>(ROWS * C::kHead)};
    bf16* const all_a = tiles.next<bf16>(STAGES * ROWS * C::kHead);
    bf16* const all_b = tiles.next<bf16>(STAGES * ROWS * C::kHead);
    Softmaxed* const all_of = tiles.next<Softmaxed>(STAGES * ROWS);

    const unsigned head = blockIdx.x % heads;
    const std::int64_t down =
        C::kByKeys ? blockIdx.x / heads : (gridDim.x - 1 - blockIdx.x) / heads;
    const std::int64_t r0 = down * ROWS, rows = C::kByKeys ? p.S : p.T;
    const std::int64_t begin = C::kByKeys ? p.first_to_see(r0) / ROWS * ROWS : 0;
    const std::int64_t end = C::kByKeys ? p.T : p.seen(min(r0 + ROWS, p.T) - 1);
    const HeadOf<const bf16> queries = p.q[head], keys = p.k[head], values = p.v[head];
    const HeadOf<const bf16> grads = {p.rounded.data + head * p.T * p.D, p.D, 1};
    const Softmaxed* const softmaxed = p.softmaxed.data + head * p.T;

    rows_from<C>(C::kByKeys ? keys : queries, r0, rows, p.D).start(mine_a);
    rows_from<C>(C::kByKeys ? values : grads, r0, rows, p.D).start(mine_b);
    auto others_a = rows_from<C>(C::kByKeys ? queries : keys, begin, end, p.D);
    auto others_b = rows_from<C>(C::kByKeys ? grads : values, begin, end, p.D);
    const auto copy = [&](int stage, std::int64_t o0) {  // a separate copy group
        if (o0 < end) {
            others_a.start({all_a + stage * ROWS * C::kHead});
            others_b.start({all_b + stage * ROWS * C::kHead});
            const int i = static_cast<int>(threadIdx.x);
            if (C::kByKeys && i < ROWS) {
                gpu::copy_async<8>(all_of + stage * ROWS + i, softmaxed + o0 + i,
                                   o0 + i < end ? 8 : 0);
            }
        }
        gpu::copy_async_commit();
    };
    copy(0, begin);

    const float scale = p.scale * kLog2OfE;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t my_row = r0 + threadIdx.x / 32 * 16 + lane / 4;  // and the row 8 below
    Softmaxed of_mine[2] = {};
    for (int h = 0; h < 2; ++h) {
        if (!C::kByKeys && my_row + 8 * h < p.T) of_mine[h] = softmaxed[my_row + 8 * h];
    }
    SumsBack<C> sums = {}, sums_of_values = {};
    int stage = 0;
    for (std::int64_t o0 = begin; o0 < end; o0 += ROWS, stage ^= 1) {
        gpu::copy_async_wait<0>();
        __syncthreads();  // the tile has arrived, and all warps have finished the previous one
        copy(stage ^ 1, o0 + ROWS);
        const TileBack<C> a{all_a + stage * ROWS * C::kHead}, b{all_b + stage * ROWS * C::kHead};
        PairsBack pairs, slopes;
        multiply_rows<C>(pairs, mine_a, a);
        multiply_rows<C>(slopes, mine_b, b);
        const auto of = [&](int i, int e) {
            return C::kByKeys ? all_of[stage * ROWS + 8 * i + lane % 4 * 2 + e % 2]
                              : of_mine[e / 2];
        };
        const auto seen = [&](int i, int e) {
            const std::int64_t row = my_row + e / 2 * 8, other = o0 + 8 * i + lane % 4 * 2 + e % 2;
            return C::kByKeys ? other < p.T && row < p.seen(other) : other < p.seen(row);
        };
        const bool all = C::kByKeys
                             ? p.first_to_see(min(r0 + ROWS, p.S) - 1) <= o0 && o0 + ROWS <= p.T
                             : o0 + ROWS <= p.seen(r0);
        all ? make_slopes<true>(pairs, slopes, scale, of, seen)
            : make_slopes<false>(pairs, slopes, scale, of, seen);
        add_rows<C>(sums, slopes, a);
        if constexpr (C::kByKeys) add_rows<C>(sums_of_values, pairs, b);
    }
    const std::int64_t first = r0 + threadIdx.x / 32 * 16;
    store_rows<C>(sums, p.scale, C::kByKeys ? p.d_k[head] : p.d_q[head], first, rows, p.D);
    if constexpr (C::kByKeys) store_rows<C>(sums_of_values, 1, p.d_v[head], first, rows, p.D);
}

template <class C>
void launch(const AttentionBackwardBf16& p, gpu::Stream stream) {
    const std::int64_t rows = C::kByKeys ? p.S : p.T;
    if (p.heads * rows == 0) return;
    const unsigned grid = gpu::blocks_for(p.heads * gpu::blocks_for(rows, C::kRows), 1);
    gpu::allow_shared(attention_backward_kernel<C>, C::kBytes);
    attention_backward_kernel<C>
        <<<grid, C::kThreads, C::kBytes, stream>>>(p, static_cast<unsigned>(p.heads));
    gpu::check_launch("attention_backward_kernel", grid, C::kThreads, C::kBytes);
}

template <int HEAD>
void launch_all(const AttentionBackwardBf16& p, gpu::Stream stream) {
    if (p.heads * p.T > 0) {
        const unsigned blocks_of_head = gpu::blocks_for(p.T, kWarps * kQueriesOfWarp);
        const unsigned grid = gpu::blocks_for(p.heads * blocks_of_head, 1);
        softmaxed_kernel<HEAD><<<grid, 32 * kWarps, 0, stream>>>(p, blocks_of_head);
        gpu::check_launch("softmaxed_kernel", grid, 32 * kWarps);
    }
    launch<CutBack<HEAD, false>>(p, stream);
    launch<CutBack<HEAD, true>>(p, stream);
}

}  // namespace

void launch_attention_backward_tensor_cores(const AttentionBackwardBf16& p, gpu::Stream stream) {
    p.D > 64 ? launch_all<128>(p, stream) : launch_all<64>(p, stream);
}

}  // namespace sixdays::day06_transformer_ops
