// Step 4: a prompt has many queries, and step 2 reads two floats of shared memory per
// multiply-add. Here a block takes 128 queries, or 64 where there would be too few blocks, and
// loops over the keys in tiles of 64. Register tiling, as in Day 05: a thread has scores of 8
// queries, or 4, with 8 keys (4 for heads wider than 64). With 8 and 8 it reads 16 vectors for 256
// multiply-adds. The attention weights go through shared memory to the second product. Copies are
// in flight meanwhile: values during the first product, the next keys during the second.
#include <string>

#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/attention/steps/steps.hpp"
#include "day06_transformer_ops/attention/steps/tiles.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr float kLog2OfE = 1.44269504f;  // exp(x) is exp2(x * log2(e))

/// Running sums of a thread's queries, like Online for one. sum: this thread's keys only.
template <class S>
struct Sums {
    float m[S::ROWS], sum[S::ROWS], x[S::ROWS][8];
};

/// Turns scores into unnormalized weights. seen(i): the number of keys of the
/// tile that query i sees. The ACROSS threads of a query are neighbouring lanes.
template <class S, class Seen>
__device__ __forceinline__ void to_weights(Sums<S>& o, float (&score)[S::ROWS][S::KEYS],
                                           float scale, const Seen& seen, float* weights) {
    const int x = threadIdx.x % S::ACROSS;
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const int n = seen(i);
        float m = o.m[i];
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            const bool is_seen = x + j * S::ACROSS < n;
            score[i][j] = is_seen ? scale * score[i][j] : -INFINITY;
            m = fmaxf(m, score[i][j]);
        }
        m = gpu::warp_reduce<S::ACROSS>(m, Larger());
        const float old = exp2f(o.m[i] - m);
        o.m[i] = m;
        o.sum[i] *= old;
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            const float e = exp2f(score[i][j] - m);
            o.sum[i] += e;
            weights[i * kDown * S::PITCH_WEIGHTS + j * S::ACROSS] = e;
        }
#pragma unroll
        for (float& sum : o.x[i]) sum *= old;
    }
}

/// Adds the values of a tile times their weights. ALL: all queries see all keys.
/// A masked key has weight 0, but its value may be NaN: it is not added.
template <class S, bool ALL, class Seen>
__device__ __forceinline__ void add_values(Sums<S>& o, const float* weights, const float* values,
                                           const Seen& seen) {
    int n[S::ROWS];
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) n[i] = ALL ? kTile : seen(i);
#pragma unroll 2
    for (int s = 0; s < kTile; s += 4) {
        float weight[S::ROWS][4], v[8];
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
            read_vector(weight[i], weights + i * kDown * S::PITCH_WEIGHTS + s);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            read_vector(v, values + (s + e) * S::PITCH);
            read_vector(v + 4, values + (s + e) * S::PITCH + 4 * S::ACROSS);
#pragma unroll
            for (int i = 0; i < S::ROWS; ++i) {
                if (!ALL && s + e >= n[i]) continue;
#pragma unroll
                for (int c = 0; c < 8; ++c) o.x[i][c] += weight[i][e] * v[c];
            }
        }
    }
}

// heads: block b has queries of head b % heads. The last queries, which see
// most keys, come first.
template <class S>
__global__ void __launch_bounds__(S::THREADS)
    attention_tiles_kernel(const __grid_constant__ AttentionProblem p,
                           const __grid_constant__ View<float> log_sums, unsigned heads) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const queries = tiles.next<float>(S::QUERIES * S::PITCH);
    float* const keys = tiles.next<float>(kTile * S::PITCH);
    float* const values = tiles.next<float>(kTile * S::PITCH);
    float* const weights = tiles.next<float>(S::QUERIES * S::PITCH_WEIGHTS);
    const int D = static_cast<int>(p.q.length), along_t = p.q.first.rank() - 1;
    const std::int64_t T = p.tokens(), counted = p.counted();
    const std::int64_t t0 = std::int64_t{(gridDim.x - 1 - blockIdx.x) / heads} * S::QUERIES;
    const std::int64_t last = min(t0 + S::QUERIES, T) - 1;
    const std::int64_t least = p.seen(t0, counted), most = p.seen(last, counted);
    const Index at = unravel(blockIdx.x % heads * T, p.q.first.layout.shape);
    const Table q = {&p.q.first(at), p.q.first.stride(along_t), p.q.stride};
    const Table k = p.keys_of(at), v = p.values_of(at);
    copy_tile<S>(queries, S::QUERIES, q, t0, T, D);
    copy_tile<S>(keys, kTile, k, 0, most, D);

    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
    float* const my_weights = weights + y * S::PITCH_WEIGHTS;
    const float scale = p.scale * kLog2OfE;
    Sums<S> o = {};
    for (float& m : o.m) m = -FLT_MAX;
    for (std::int64_t s0 = 0; s0 < most; s0 += kTile) {
        const auto seen = [&](int i) {
            const std::int64_t n = p.seen(t0 + y + i * kDown, counted) - s0;
            return static_cast<int>(min(n, std::int64_t{kTile}));
        };
        gpu::copy_async_wait<0>();
        __syncthreads();  // the keys have arrived; all warps have finished the previous values
        copy_tile<S>(values, kTile, v, s0, most, D);
        float score[S::ROWS][S::KEYS] = {};
        make_scores<S>(score, queries + y * S::PITCH, keys + x * S::PITCH);
        to_weights(o, score, scale, seen, my_weights + x);
        gpu::copy_async_wait<0>();
        __syncthreads();  // the values and all weights are there; all have finished the keys
        if (s0 + kTile < most) copy_tile<S>(keys, kTile, k, s0 + kTile, most, D);
        if (s0 + kTile <= least) {
            add_values<S, true>(o, my_weights, values + 4 * x, seen);
        } else {
            add_values<S, false>(o, my_weights, values + 4 * x, seen);
        }
    }
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const float sum = gpu::warp_reduce<S::ACROSS>(o.sum[i], Plus());
        const std::int64_t t = t0 + y + i * kDown;
        if (t >= T) continue;
        float* const out = &p.out.first(at) + t * p.out.first.stride(along_t);
        const bool none = p.seen(t, counted) == 0;
        if (log_sums.data != nullptr && x == 0) {
            const float log_sum = (o.m[i] + log2f(sum)) / kLog2OfE;
            (&log_sums(at))[t * log_sums.stride(along_t)] = counted < 0 ? NAN : log_sum;
        }
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            const int d = c / 4 * (4 * S::ACROSS) + 4 * x + c % 4;
            if (d < D) out[d * p.out.stride] = counted < 0 ? NAN : none ? 0 : o.x[i][c] / sum;
        }
    }
}

template <class S>
void launch(const AttentionProblem& p, const View<float>& log_sums, gpu::Stream stream) {
    const std::int64_t heads = p.q.count() / p.tokens();
    const unsigned grid = gpu::blocks_for(heads * gpu::blocks_for(p.tokens(), S::QUERIES), 1);
    gpu::allow_shared(attention_tiles_kernel<S>, S::kBytes);
    attention_tiles_kernel<S>
        <<<grid, S::THREADS, S::kBytes, stream>>>(p, log_sums, static_cast<unsigned>(heads));
    gpu::check_launch("attention_tiles_kernel", grid, S::THREADS, S::kBytes);
}

template <int HEAD>
void launch_for(const AttentionProblem& p, const View<float>& log_sums, gpu::Stream stream) {
    using Tall = Block<HEAD, 8, 4>;
    // Fewer queries per block where there would be too few blocks, or too little shared memory. An
    // SM with 228 KiB has room for two tall blocks with heads of 64, or one with heads of 128.
    const int places = gpu::multiprocessors() * (128 / HEAD);
    const bool few = p.q.count() < 3 * places * Tall::QUERIES || Tall::kBytes > gpu::most_shared();
    const auto with = !p.vectorized ? launch<Block<HEAD, 4, 1>>
                      : few         ? launch<Block<HEAD, 4, 4>>
                                    : launch<Tall>;
    with(p, log_sums, stream);
}

}  // namespace

void launch_attention_tiles(const AttentionProblem& p, const View<float>& log_sums,
                            gpu::Stream stream) {
    const std::size_t needed = attention_tiles_bytes(p.q.length), most = gpu::most_shared();
    if (needed > most) {
        reject("attention: the path 'tiles' needs ", needed,
               " bytes of shared memory for a head of ", p.q.length,
               " numbers, and a block of this device gets ", most);
    }
    p.q.length > 64 ? launch_for<128>(p, log_sums, stream) : launch_for<64>(p, log_sums, stream);
}

}  // namespace sixdays::day06_transformer_ops
