// Step 2: tiles, as in the forward pass (attention/steps/tiles.hpp). A block owns 64 rows and loops
// over the other side in tiles of 64; a thread has 4 x 8 scores and their slopes in registers. One
// kernel owns queries and loops over keys, the other owns keys and loops over queries, so every sum
// has one writer: the same bits each time. No T x T matrix leaves an SM.
#include <cfloat>

#include "common/gpu/reduce.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/training/backward/steps/attention/tiles.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using namespace way_back;

/// A thread's partial results for its queries: the largest score, and sums of exp2(score - m).
template <class S>
struct Seen {
    float m[S::ROWS], sum[S::ROWS], delta[S::ROWS];
};

template <class S, class Ranges>
__device__ __forceinline__ void see(Seen<S>& o, const Products<S>& score,
                                    const Products<S>& d_weight, float scale, const Ranges& range) {
    const int x = threadIdx.x % S::ACROSS;
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const Range counts = range(i);
        float m = o.m[i];
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            if (counts.has(x + j * S::ACROSS)) m = fmaxf(m, scale * score[i][j]);
        }
        const float old = exp2f(o.m[i] - m);
        o.m[i] = m, o.sum[i] *= old, o.delta[i] *= old;
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            if (!counts.has(x + j * S::ACROSS)) continue;
            const float e = exp2f(scale * score[i][j] - m);
            o.sum[i] += e;
            o.delta[i] += e * d_weight[i][j];
        }
    }
}

/// Combines the partial results of the ACROSS threads of a query. In both kernels here log_sum is
/// that of exp2.
template <class S>
__device__ __forceinline__ Softmaxed joined(const Seen<S>& o, int i) {
    const float m = gpu::warp_reduce<S::ACROSS>(o.m[i], Larger());
    const float mine = exp2f(o.m[i] - m);
    const float sum = gpu::warp_reduce<S::ACROSS>(o.sum[i] * mine, Plus());
    const float delta = gpu::warp_reduce<S::ACROSS>(o.delta[i] * mine, Plus());
    return {m + log2f(sum), delta / sum};
}

// heads: block b has queries of head b % heads. The last queries, which see most keys, come first.
template <class S>
__global__ void __launch_bounds__(S::THREADS, kAtOnce<S>)
    queries_tiles_kernel(const __grid_constant__ AttentionBackward p, unsigned heads) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const queries = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const grads = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const keys = tiles.next<float>(kTile * S::PITCH);
    float* const values = tiles.next<float>(kTile * S::PITCH);
    float* const slopes = tiles.next<float>(S::QUERIES * S::PITCH_WEIGHTS);
    const AttentionProblem& f = p.forward;
    const int D = static_cast<int>(f.q.length), along_t = f.q.first.rank() - 1;
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    const std::int64_t T = f.tokens();
    const std::int64_t t0 = std::int64_t{(gridDim.x - 1 - blockIdx.x) / heads} * S::QUERIES;
    const std::int64_t least = f.seen(t0, f.S), most = f.seen(min(t0 + S::QUERIES, T) - 1, f.S);
    const Index at = unravel(blockIdx.x % heads * T, f.q.first.layout.shape);
    const Table k = f.keys_of(at), v = f.values_of(at);
    const float* const my_queries = queries + y * S::PITCH;
    const float* const my_grads = grads + y * S::PITCH;
    copy_tile<S>(queries, S::QUERIES, {&f.q.first(at), f.q.first.stride(along_t), f.q.stride}, t0,
                 T, D);
    copy_tile<S>(grads, S::QUERIES,
                 {&p.grad.first(at), p.grad.first.stride(along_t), p.grad.stride}, t0, T, D);

    const float scale = f.scale * kLog2OfE;
    // The scores and d_weight of a tile, for both passes.
    const auto multiply = [&](std::int64_t s0, Products<S>& score, Products<S>& d_weight) {
        __syncthreads();  // all warps have finished the previous tile
        copy_tile<S>(keys, kTile, k, s0, most, D);
        copy_tile<S>(values, kTile, v, s0, most, D);
        gpu::copy_async_wait<1>();
        __syncthreads();  // the keys have arrived
        make_scores<S>(score, my_queries, keys + x * S::PITCH);
        gpu::copy_async_wait<0>();
        __syncthreads();  // the values have arrived
        make_scores<S>(d_weight, my_grads, values + x * S::PITCH);
    };
    const auto range_from = [&](std::int64_t s0) {
        return [&f, t0, y, s0](int i) {
            return Range{0, within_tile<S>(f.seen(t0 + y + i * kDown, f.S) - s0)};
        };
    };
    // 1. the log-sum-exp, and delta
    Seen<S> seen = {};
    for (float& m : seen.m) m = -FLT_MAX;
    for (std::int64_t s0 = 0; s0 < most; s0 += kTile) {
        Products<S> score = {}, d_weight = {};
        multiply(s0, score, d_weight);
        see<S>(seen, score, d_weight, scale, range_from(s0));
    }
    Softmaxed of[S::ROWS];
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        of[i] = joined<S>(seen, i);
        const std::int64_t t = t0 + y + i * kDown;
        if (x == 0 && t < T) (&p.softmaxed(at))[t] = of[i];
    }
    // 2. the gradient of the query, gathered from its keys
    Outputs<S> d_q = {};
    for (std::int64_t s0 = 0; s0 < most; s0 += kTile) {
        Products<S> score = {}, d_weight = {};
        multiply(s0, score, d_weight);
        const auto range = range_from(s0);
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < S::KEYS; ++j) {
                const float weight = exp2f(scale * score[i][j] - of[i].log_sum);
                score[i][j] = weight * (d_weight[i][j] - of[i].delta);
            }
        }
        put<S>(slopes, score);
        __syncthreads();
        if (s0 + kTile <= least) {
            add_rows<S, true>(d_q, slopes, keys, range);
        } else {
            add_rows<S, false>(d_q, slopes, keys, range);
        }
    }
    store<S>(d_q, f.scale, &f.out.first(at), f.out.first.stride(along_t), f.out.stride, t0, T, D);
}

// stacks: block b has keys of head b % stacks. The first keys, which most queries see, come first.
template <class S>
__global__ void __launch_bounds__(S::THREADS, kAtOnce<S>)
    keys_tiles_kernel(const __grid_constant__ AttentionBackward p, unsigned stacks) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const keys = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const values = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const queries = tiles.next<float>(kTile * S::PITCH);
    float* const grads = tiles.next<float>(kTile * S::PITCH);
    float* const products = tiles.next<float>(S::QUERIES * S::PITCH_WEIGHTS);
    const AttentionProblem& f = p.forward;
    const int D = static_cast<int>(f.q.length), along_t = f.q.first.rank() - 1;
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    const std::int64_t T = f.tokens();
    const std::int64_t s0 = std::int64_t{blockIdx.x / stacks} * S::QUERIES;
    const std::int64_t last = min(s0 + S::QUERIES, f.S) - 1;
    const std::int64_t first = p.first_to_see(s0) / kTile * kTile;
    const Index of_keys = unravel(blockIdx.x % stacks * f.S, p.k.first.layout.shape);
    const int along_s = p.k.first.rank() - 1;
    copy_tile<S>(keys, S::QUERIES, {&p.k.first(of_keys), p.k.first.stride(along_s), p.k.stride}, s0,
                 f.S, D);
    copy_tile<S>(values, S::QUERIES, {&p.v.first(of_keys), p.v.first.stride(along_s), p.v.stride},
                 s0, f.S, D);

    const float scale = f.scale * kLog2OfE;
    Outputs<S> d_k = {}, d_v = {};
    for (std::int64_t h = 0; h < p.heads; ++h) {
        Index at = of_keys;
        const Index head = unravel(h, p.sharing);
        for (int dim = 0; dim + 1 < at.rank; ++dim) at[dim] += head[dim];
        const Table q = {&f.q.first(at), f.q.first.stride(along_t), f.q.stride};
        const Table g = {&p.grad.first(at), p.grad.first.stride(along_t), p.grad.stride};
        const Softmaxed* const softmaxed = &p.softmaxed(at);
        for (std::int64_t t0 = first; t0 < T; t0 += kTile) {
            const auto range = [&](int i) {
                const std::int64_t s = s0 + y + i * kDown;
                return Range{s < f.S ? within_tile<S>(p.first_to_see(s) - t0) : kTile,
                             within_tile<S>(T - t0)};
            };
            __syncthreads();  // all warps have finished the previous tiles
            copy_tile<S>(queries, kTile, q, t0, T, D);
            copy_tile<S>(grads, kTile, g, t0, T, D);
            Softmaxed of[S::KEYS];
#pragma unroll
            for (int j = 0; j < S::KEYS; ++j) {
                const std::int64_t t = t0 + x + j * S::ACROSS;
                of[j] = t < T ? softmaxed[t] : Softmaxed{0, 0};
            }
            gpu::copy_async_wait<1>();
            __syncthreads();  // the queries have arrived
            Products<S> weight = {}, d_score = {};
            make_scores<S>(weight, keys + y * S::PITCH, queries + x * S::PITCH);
            gpu::copy_async_wait<0>();
            __syncthreads();  // the gradients have arrived
            make_scores<S>(d_score, values + y * S::PITCH, grads + x * S::PITCH);
#pragma unroll
            for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
                for (int j = 0; j < S::KEYS; ++j) {
                    weight[i][j] = exp2f(scale * weight[i][j] - of[j].log_sum);
                    d_score[i][j] = weight[i][j] * (d_score[i][j] - of[j].delta);
                }
            }
            const bool all = p.first_to_see(last) <= t0 && t0 + kTile <= T;
            const auto add = [&](Outputs<S>& sums, const Products<S>& factors, const float* rows) {
                put<S>(products, factors);
                __syncthreads();
                all ? add_rows<S, true>(sums, products, rows, range)
                    : add_rows<S, false>(sums, products, rows, range);
            };
            add(d_v, weight, grads);
            __syncthreads();  // all warps have finished with the weights
            add(d_k, d_score, queries);
        }
    }
    store<S>(d_k, f.scale, &p.d_k.first(of_keys), p.d_k.first.stride(along_s), p.d_k.stride, s0,
             f.S, D);
    store<S>(d_v, 1, &p.d_v.first(of_keys), p.d_v.first.stride(along_s), p.d_v.stride, s0, f.S, D);
}

}  // namespace

void launch_attention_backward_tiles(const AttentionBackward& p, gpu::Stream stream) {
    with_block(p, [&]<class S>(S) {
        launch<S>({queries_tiles_kernel<S>, keys_tiles_kernel<S>, "queries_tiles_kernel",
                   "keys_tiles_kernel"},
                  p, stream);
    });
}

}  // namespace sixdays::day06_transformer_ops
