// Step 4: a prompt has many queries, and step 2 reads two floats of shared memory for each product
// that it adds. Here a block takes 128 queries and walks along the keys in tiles of 64. A thread has 8
// keys of 8 queries and reads 16 floats for their 64 products, as in Day 05. What has become of the
// scores goes through shared memory once more, and weighs the values in a second product. Meanwhile
// copies are in flight: values during the first product, the next keys during the second.
#include <string>

#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/steps/attention/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kTile = 64;   // keys of a tile
constexpr int kAcross = 8;  // threads side by side, and keys of each

/// A block of THREADS threads, each with 8 keys of ROWS queries, and as many columns of the output.
template <int HEAD_, int THREADS_, int ROWS_>
struct Block {
    static constexpr int HEAD = HEAD_, THREADS = THREADS_, ROWS = ROWS_;
    static constexpr int COLUMNS = HEAD / kAcross;
    static constexpr int APART = THREADS / kAcross * 4;  // between groups of 4 queries of a thread
    static constexpr int QUERIES = APART / 4 * ROWS;
    // Columns and rows of tiles spread over the banks.
    static constexpr int PITCH_Q = QUERIES + 4, PITCH_K = kTile + 4, PITCH_V = HEAD + 8;
    static constexpr std::size_t kBytes =
        gpu::tile_bytes<float>(HEAD * PITCH_Q) + gpu::tile_bytes<float>(HEAD * PITCH_K) +
        gpu::tile_bytes<float>(kTile * PITCH_V) + gpu::tile_bytes<float>(kTile * PITCH_Q);
};

// [sums]
/// A thread's queries: what Online is of one, without the elements that other threads have.
template <class S>
struct Sums {
    float m[S::ROWS], sum[S::ROWS];  // sum: of this thread's keys only
    float x[S::ROWS][S::COLUMNS];
};

/// N floats in groups of four, which lie `apart` from each other.
template <int N>
__device__ __forceinline__ void read_groups(float (&x)[N], const float* from, int apart) {
#pragma unroll
    for (int g = 0; g < N / 4; ++g) {
        const float4 four = *reinterpret_cast<const float4*>(from + g * apart);
        x[4 * g] = four.x, x[4 * g + 1] = four.y, x[4 * g + 2] = four.z, x[4 * g + 3] = four.w;
    }
}
// [sums]

// [copy]
/// Starts to copy ROWS rows of `from`, from number `first` on: element d of row s to tile[s * along_s
/// + d * along_d]. 0 beyond row n and beyond D. 32 lanes take 8 elements of 4 rows: whole sectors of
/// memory, and no bank of the tile twice.
template <class S, int ROWS>
__device__ void copy_tile(float* tile, int along_s, int along_d, const Table& from,
                          std::int64_t first, std::int64_t n, int D) {
    const int d = threadIdx.x % 8;
    for (int s = threadIdx.x / 8; s < ROWS; s += S::THREADS / 8) {
        const bool is_row = first + s < n;
        const float* const row = &from(first + s, 0);
        float* const to = tile + s * along_s;
#pragma unroll
        for (int c = d; c < S::HEAD; c += 8) {
            if (is_row && c < D) {
                gpu::copy_async<4>(to + c * along_d, row + c * from.along_d);
            } else {
                to[c * along_d] = 0;
            }
        }
    }
    gpu::copy_async_commit();
}
// [copy]

// [scores]
template <class S>
__device__ __forceinline__ void make_scores(float (&score)[S::ROWS][kAcross], const float* queries,
                                            const float* keys) {
#pragma unroll 8
    for (int d = 0; d < S::HEAD; ++d) {
        float q[S::ROWS], k[kAcross];
        read_groups(q, queries + d * S::PITCH_Q, S::APART);
        read_groups(k, keys + d * S::PITCH_K, kTile / 2);
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < kAcross; ++j) score[i][j] += q[i] * k[j];
        }
    }
}
// [scores]

// [shares]
/// Scores become shares, but for the factor 1 / sum. The 8 threads that share queries are
/// neighbouring lanes.
template <class S>
__device__ __forceinline__ void to_shares(Sums<S>& o, float (&score)[S::ROWS][kAcross]) {
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        float m = o.m[i];
#pragma unroll
        for (int j = 0; j < kAcross; ++j) m = fmaxf(m, score[i][j]);
        m = gpu::warp_reduce<kAcross>(m, Larger());
        const float old = expf(o.m[i] - m);
        o.m[i] = m;
        o.sum[i] *= old;
#pragma unroll
        for (int j = 0; j < kAcross; ++j) o.sum[i] += score[i][j] = expf(score[i][j] - m);
#pragma unroll
        for (int c = 0; c < S::COLUMNS; ++c) o.x[i][c] *= old;
    }
}
// [shares]

// [values]
/// The values of a tile, each by its share. ALL: all queries see all keys. A share of what is not
/// seen is 0, but its value may be NaN, and must not be added.
/// @param seen  how many keys of the tile this thread's query i sees
/// @param most  how many the block's last one sees
template <class S, bool ALL>
__device__ __forceinline__ void add_values(Sums<S>& o, const float* shares, const float* values,
                                           const int (&seen)[S::ROWS], int most) {
#pragma unroll 4
    for (int s = 0; s < (ALL ? kTile : most); ++s) {
        float share[S::ROWS], v[S::COLUMNS];
        read_groups(share, shares + s * S::PITCH_Q, S::APART);
        read_groups(v, values + s * S::PITCH_V, 4 * kAcross);
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
            if (!ALL && s >= seen[i]) continue;
#pragma unroll
            for (int c = 0; c < S::COLUMNS; ++c) o.x[i][c] += share[i] * v[c];
        }
    }
}
// [values]

// [masked]
/// Scores by the scale; -infinity where a query does not see the key.
template <class S>
__device__ __forceinline__ void scale_scores(float (&score)[S::ROWS][kAcross], float scale,
                                             const int (&seen)[S::ROWS]) {
    const int x = threadIdx.x % kAcross * 4;
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            const int key = j / 4 * (kTile / 2) + x + j % 4;
            score[i][j] = key < seen[i] ? scale * score[i][j] : -INFINITY;
        }
    }
}

/// To shared memory, as columns.
template <class S>
__device__ __forceinline__ void leave_shares(float* shares,
                                             const float (&share)[S::ROWS][kAcross]) {
    const int x = threadIdx.x % kAcross * 4;
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
        float* const to = shares + (j / 4 * (kTile / 2) + x + j % 4) * S::PITCH_Q;
#pragma unroll
        for (int g = 0; g < S::ROWS / 4; ++g) {
            *reinterpret_cast<float4*>(to + g * S::APART) = make_float4(
                share[4 * g][j], share[4 * g + 1][j], share[4 * g + 2][j], share[4 * g + 3][j]);
        }
    }
}
// [masked]

// [kernel]
// heads: block b has queries of head b % heads. The last queries, which see
// most keys, come first.
template <class S>
__global__ void __launch_bounds__(S::THREADS)
    attention_tiles_kernel(const __grid_constant__ AttentionProblem p, unsigned heads) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* const queries = tiles.next<float>(S::HEAD * S::PITCH_Q);  // (HEAD, QUERIES)
    float* const keys = tiles.next<float>(S::HEAD * S::PITCH_K);     // (HEAD, 64)
    float* const values = tiles.next<float>(kTile * S::PITCH_V);     // (64, HEAD)
    float* const shares = tiles.next<float>(kTile * S::PITCH_Q);     // (64, QUERIES)
    const int D = static_cast<int>(p.q.length), along_t = p.q.first.rank() - 1;
    const std::int64_t T = p.tokens(), counted = p.counted();
    const std::int64_t t0 = std::int64_t{(gridDim.x - 1 - blockIdx.x) / heads} * S::QUERIES;
    const std::int64_t last = t0 + S::QUERIES < T ? t0 + S::QUERIES - 1 : T - 1;
    const std::int64_t least = p.seen(t0, counted), most = p.seen(last, counted);
    const Index at = unravel(blockIdx.x % heads * T, p.q.first.layout.shape);
    const Table q = {&p.q.first(at), p.q.first.stride(along_t), p.q.stride};
    const Table k = p.keys_of(at), v = p.values_of(at);
    copy_tile<S, S::QUERIES>(queries, 1, S::PITCH_Q, q, t0, T, D);
    copy_tile<S, kTile>(keys, 1, S::PITCH_K, k, 0, most, D);
    // This thread's keys and columns begin at x, its queries at y.
    const int x = threadIdx.x % kAcross * 4, y = threadIdx.x / kAcross * 4;
    const auto query = [&](int i) { return t0 + i / 4 * S::APART + y + i % 4; };

    Sums<S> o = {};
    for (float& m : o.m) m = -FLT_MAX;
    for (std::int64_t s0 = 0; s0 < most; s0 += kTile) {
        gpu::copy_async_wait<0>();
        __syncthreads();  // the keys are there, and all have done with the values before
        copy_tile<S, kTile>(values, S::PITCH_V, 1, v, s0, most, D);
        float score[S::ROWS][kAcross] = {};
        make_scores<S>(score, queries + y, keys + x);
        int seen[S::ROWS];
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
            seen[i] = static_cast<int>(min(p.seen(query(i), counted) - s0, std::int64_t{kTile}));
        }
        scale_scores<S>(score, p.scale, seen);
        to_shares<S>(o, score);
        leave_shares<S>(shares + y, score);
        gpu::copy_async_wait<0>();
        __syncthreads();  // the values and all shares are there, and all have done with the keys
        if (s0 + kTile < most) copy_tile<S, kTile>(keys, 1, S::PITCH_K, k, s0 + kTile, most, D);
        if (s0 + kTile <= least) {
            add_values<S, true>(o, shares + y, values + x, seen, kTile);
        } else {
            add_values<S, false>(o, shares + y, values + x, seen,
                                 static_cast<int>(min(most - s0, std::int64_t{kTile})));
        }
    }
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const float sum = gpu::warp_reduce<kAcross>(o.sum[i], Plus());
        const std::int64_t t = query(i);
        if (t >= T) continue;
        float* const out = &p.out.first(at) + t * p.out.first.stride(along_t);
        const bool none = p.seen(t, counted) == 0;
#pragma unroll
        for (int c = 0; c < S::COLUMNS; ++c) {
            const int d = c / 4 * (4 * kAcross) + x + c % 4;
            if (d < D) out[d * p.out.stride] = counted < 0 ? NAN : none ? 0 : o.x[i][c] / sum;
        }
    }
}
// [kernel]

template <class S>
void launch(const AttentionProblem& p, gpu::Stream stream) {
    const std::int64_t heads = p.q.count() / p.tokens();
    const unsigned grid = gpu::blocks_for(heads * gpu::blocks_for(p.tokens(), S::QUERIES), 1);
    gpu::allow_shared(attention_tiles_kernel<S>, S::kBytes);
    attention_tiles_kernel<S>
        <<<grid, S::THREADS, S::kBytes, stream>>>(p, static_cast<unsigned>(heads));
    gpu::check_launch("attention_tiles_kernel", grid, S::THREADS, S::kBytes);
}

using Wide = Block<128, 128, 4>;
using Tall = Block<64, 128, 8>;
using Low = Block<64, 128, 4>;

}  // namespace

std::size_t attention_tiles_bytes(std::int64_t D) {
    return D > 64 ? Wide::kBytes : Low::kBytes;
}

void launch_attention_tiles(const AttentionProblem& p, gpu::Stream stream) {
    const std::size_t needed = attention_tiles_bytes(p.q.length), most = gpu::most_shared();
    if (needed > most) {
        refuse("attention: the path 'tiles' needs " + std::to_string(needed) +
               " bytes of shared memory for a head of " + std::to_string(p.q.length) +
               " numbers, and a block of this device gets " + std::to_string(most));
    }
    // Fewer queries a block if there would be too few blocks, or too little shared memory.
    const bool few = p.q.count() < 256 * 128 || Tall::kBytes > most;
    if (p.q.length > 64) return launch<Wide>(p, stream);
    few ? launch<Low>(p, stream) : launch<Tall>(p, stream);
}

}  // namespace sixdays::day06_transformer_ops
