// Step 3: the forward pass has stored each query's log-sum-exp, and delta(t) is grad(t) . out(t).
// So the pass for d_q needs no preliminary pass over the keys, and seven of nine products remain.
// Copies overlap with arithmetic: of the two tiles over which a block loops, one is copied while
// the other is in use.
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/training/backward/steps/attention/tiles.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using namespace way_back;

/// The forward pass's results for the thread's queries, from row t0 on, scaled for exp2. The ACROSS
/// threads of a query add up its delta.
template <class S>
__device__ __forceinline__ void make_softmaxed(const AttentionBackward& p, const Index& at,
                                               std::int64_t t0, Softmaxed (&of)[S::ROWS]) {
    const int D = static_cast<int>(p.out.length), along_t = p.out.first.rank() - 1;
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    const std::int64_t T = p.forward.tokens();
    const float* const grad = &p.grad.first(at);
    const float* const out = &p.out.first(at);
    const float* const log_sums = &p.log_sums(at);
    const std::int64_t of_grad = p.grad.first.stride(along_t), of_out = p.out.first.stride(along_t);
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const std::int64_t t = t0 + y + i * kDown;
        float some = 0;
        for (int d = x; d < D && t < T; d += S::ACROSS) {
            some += grad[t * of_grad + d * p.grad.stride] * out[t * of_out + d * p.out.stride];
        }
        of[i].delta = gpu::warp_reduce<S::ACROSS>(some, Plus());
        of[i].log_sum = t < T ? kLog2OfE * log_sums[t * p.log_sums.stride(along_t)] : 0;
        if (x == 0 && t < T) (&p.softmaxed(at))[t] = of[i];
    }
}

// heads: block b has queries of head b % heads. The last queries, which see most keys, come first.
template <class S>
__global__ void __launch_bounds__(S::THREADS, kAtOnce<S>)
    kept_queries_kernel(const __grid_constant__ AttentionBackward p, unsigned heads) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const queries = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const grads = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const keys = tiles.next<float>(S::TILE * S::PITCH);
    float* const values = tiles.next<float>(S::TILE * S::PITCH);
    float* const slopes = tiles.next<float>(S::QUERIES * S::PITCH_WEIGHTS);
    const AttentionProblem& f = p.forward;
    const int D = static_cast<int>(f.q.length), along_t = f.q.first.rank() - 1;
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    const std::int64_t T = f.tokens();
    const std::int64_t t0 = std::int64_t{(gridDim.x - 1 - blockIdx.x) / heads} * S::QUERIES;
    const std::int64_t least = f.seen(t0, f.S), most = f.seen(min(t0 + S::QUERIES, T) - 1, f.S);
    const Index at = unravel(blockIdx.x % heads * T, f.q.first.layout.shape);
    const Table k = f.keys_of(at), v = f.values_of(at);
    copy_tile<S>(queries, S::QUERIES, {&f.q.first(at), f.q.first.stride(along_t), f.q.stride}, t0,
                 T, D);
    copy_tile<S>(grads, S::QUERIES,
                 {&p.grad.first(at), p.grad.first.stride(along_t), p.grad.stride}, t0, T, D);
    copy_tile<S>(values, S::TILE, v, 0, most, D);
    Softmaxed of[S::ROWS];
    make_softmaxed<S>(p, at, t0, of);

    const float scale = f.scale * kLog2OfE;
    Outputs<S> d_q = {};
    for (std::int64_t s0 = 0; s0 < most; s0 += S::TILE) {
        const auto range = [&](int i) {
            return Range{0, within_tile<S>(f.seen(t0 + y + i * kDown, f.S) - s0)};
        };
        gpu::copy_async_wait<0>();
        __syncthreads();  // the values have arrived; all warps have finished the previous keys
        copy_tile<S>(keys, S::TILE, k, s0, most, D);
        Products<S> d_weight = {}, score = {};
        make_scores<S>(d_weight, grads + y * S::PITCH, values + x * S::PITCH);
        gpu::copy_async_wait<0>();
        __syncthreads();  // the keys have arrived; all warps have finished with the values
        if (s0 + S::TILE < most) copy_tile<S>(values, S::TILE, v, s0 + S::TILE, most, D);
        make_scores<S>(score, queries + y * S::PITCH, keys + x * S::PITCH);
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < S::KEYS; ++j) {
                const float weight = exp2f(scale * score[i][j] - of[i].log_sum);
                score[i][j] = weight * (d_weight[i][j] - of[i].delta);
            }
        }
        put<S>(slopes, score);
        __syncthreads();  // the slopes are written
        if (s0 + S::TILE <= least) {
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
    kept_keys_kernel(const __grid_constant__ AttentionBackward p, unsigned stacks) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const keys = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const values = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const queries = tiles.next<float>(S::TILE * S::PITCH);
    float* const grads = tiles.next<float>(S::TILE * S::PITCH);
    float* const products = tiles.next<float>(S::QUERIES * S::PITCH_WEIGHTS);
    const AttentionProblem& f = p.forward;
    const int D = static_cast<int>(f.q.length), along_t = f.q.first.rank() - 1;
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    const std::int64_t T = f.tokens();
    const std::int64_t s0 = std::int64_t{blockIdx.x / stacks} * S::QUERIES;
    const std::int64_t last = min(s0 + S::QUERIES, f.S) - 1;
    const std::int64_t first = p.first_to_see(s0) / S::TILE * S::TILE;
    const Index of_keys = unravel(blockIdx.x % stacks * f.S, p.k.first.layout.shape);
    const int along_s = p.k.first.rank() - 1;
    const auto head_of = [&](std::int64_t h) {
        Index at = of_keys;
        const Index head = unravel(h, p.sharing);
        for (int dim = 0; dim + 1 < at.rank; ++dim) at[dim] += head[dim];
        return at;
    };
    const auto grads_of = [&](std::int64_t h) {
        return Table{&p.grad.first(head_of(h)), p.grad.first.stride(along_t), p.grad.stride};
    };
    copy_tile<S>(keys, S::QUERIES, {&p.k.first(of_keys), p.k.first.stride(along_s), p.k.stride}, s0,
                 f.S, D);
    copy_tile<S>(values, S::QUERIES, {&p.v.first(of_keys), p.v.first.stride(along_s), p.v.stride},
                 s0, f.S, D);
    Table g = {};
    if (p.heads > 0) copy_tile<S>(grads, S::TILE, g = grads_of(0), first, T, D);

    const float scale = f.scale * kLog2OfE;
    Outputs<S> d_k = {}, d_v = {};
    for (std::int64_t h = 0; h < p.heads; ++h) {
        const Index at = head_of(h);
        const Table q = {&f.q.first(at), f.q.first.stride(along_t), f.q.stride};
        const Softmaxed* const softmaxed = &p.softmaxed(at);
        for (std::int64_t t0 = first; t0 < T; t0 += S::TILE) {
            const auto range = [&](int i) {
                const std::int64_t s = s0 + y + i * kDown;
                return Range{s < f.S ? within_tile<S>(p.first_to_see(s) - t0) : S::TILE,
                             within_tile<S>(T - t0)};
            };
            const bool all = p.first_to_see(last) <= t0 && t0 + S::TILE <= T;
            const auto add = [&](Outputs<S>& sums, const Products<S>& factors, const float* rows) {
                put<S>(products, factors);
                __syncthreads();  // the products are written
                all ? add_rows<S, true>(sums, products, rows, range)
                    : add_rows<S, false>(sums, products, rows, range);
            };
            gpu::copy_async_wait<0>();
            __syncthreads();  // the gradients have arrived; the previous queries are finished
            copy_tile<S>(queries, S::TILE, q, t0, T, D);
            Softmaxed of[S::KEYS];
#pragma unroll
            for (int j = 0; j < S::KEYS; ++j) {
                const std::int64_t t = t0 + x + j * S::ACROSS;
                of[j] = t < T ? softmaxed[t] : Softmaxed{0, 0};
            }
            Products<S> d_score = {}, weight = {};
            make_scores<S>(d_score, values + y * S::PITCH, grads + x * S::PITCH);
            gpu::copy_async_wait<0>();
            __syncthreads();  // the queries have arrived
            make_scores<S>(weight, keys + y * S::PITCH, queries + x * S::PITCH);
#pragma unroll
            for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
                for (int j = 0; j < S::KEYS; ++j) {
                    weight[i][j] = exp2f(scale * weight[i][j] - of[j].log_sum);
                    d_score[i][j] = weight[i][j] * (d_score[i][j] - of[j].delta);
                }
            }
            add(d_v, weight, grads);
            __syncthreads();  // all warps have finished with the weights and the gradients
            if (t0 + S::TILE < T) {
                copy_tile<S>(grads, S::TILE, g, t0 + S::TILE, T, D);
            } else if (h + 1 < p.heads) {
                copy_tile<S>(grads, S::TILE, g = grads_of(h + 1), first, T, D);
            }
            add(d_k, d_score, queries);
        }
    }
    store<S>(d_k, f.scale, &p.d_k.first(of_keys), p.d_k.first.stride(along_s), p.d_k.stride, s0,
             f.S, D);
    store<S>(d_v, 1, &p.d_v.first(of_keys), p.d_v.first.stride(along_s), p.d_v.stride, s0, f.S, D);
}

}  // namespace

void launch_attention_backward_kept(const AttentionBackward& p, gpu::Stream stream) {
    with_block(p, [&]<class S>(S) {
        launch<S>({kept_queries_kernel<S>, kept_keys_kernel<S>, "kept_queries_kernel",
                   "kept_keys_kernel"},
                  p, stream);
    });
}

}  // namespace sixdays::day06_transformer_ops
