/// @file
/// The launchers of attention's steps, and what their kernels share. They check nothing; D is at
/// most kMostOfHead, except for the last.
#pragma once

#include <cuda_runtime.h>

#include <cfloat>

#include "common/gpu/reduce.hpp"
#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/held_row.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2: one warp per query; a block of 8 warps reads each key and value once for all of them.
void launch_attention_fused(const AttentionProblem& p, gpu::Stream stream);

/// Step 3: one block per query; each of its warps takes every eighth tile of keys.
void launch_attention_split_keys(const AttentionProblem& p, gpu::Stream stream);

/// Step 4: a block has 128 or 64 queries of a head; a thread computes scores of 8 or 4 of them.
/// @param log_sums  receives each query's log-sum-exp; may be a null pointer
/// @throws std::invalid_argument  a block of this device gets less than attention_tiles_bytes()
void launch_attention_tiles(const AttentionProblem& p, const View<float>& log_sums,
                            gpu::Stream stream);

/// Step 5: several blocks split a query's keys. Partials: one per query and part.
void launch_attention_split_blocks(const AttentionProblem& p, const AttentionPartials& partials,
                                   gpu::Stream stream);

/// Step 6: one warp per query, heads of any width.
void launch_attention_wide_heads(const AttentionProblem& p, gpu::Stream stream);

inline constexpr int kKeys = 32;                // per tile: one per lane
inline constexpr int kHead = int(kMostOfHead);  // largest width of a head

// [online]
/// A warp's running sums for one query. m and sum are the same in all lanes, and lane l has
/// elements l, l + 32, ... of the output. m begins with the lowest finite float, not with
/// -infinity: -infinity minus -infinity is NaN.
struct Online {
    float m, sum;
    float x[kHead / 32];
};

/// Processes 32 more keys: each lane passes the score of one, or -infinity if it is masked.
/// value(j, d) is element d of key j's value, or 0 if there is no such element. Only the first `n`
/// keys count.
template <class Value>
__device__ inline void take(Online& o, float score, int n, const Value& value) {
    const int lane = threadIdx.x % 32;
    const float m = fmaxf(o.m, gpu::warp_reduce(score, Larger()));
    const float e = expf(score - m);
    const float old = expf(o.m - m);  // rescales the sums so far to the new maximum
    o.sum = o.sum * old + gpu::warp_reduce(e, Plus());
    o.m = m;
    for (float& x : o.x) x *= old;
    for (int j = 0; j < n; ++j) {
        const float weight = __shfl_sync(0xffffffffu, e, j);
        for (int i = 0; i < kHead / 32; ++i) {
            o.x[i] += weight * value(j, lane + 32 * i);
        }
    }
}
// [online]

/// THREADS threads load a tile of ROWS keys or values from s0 on: row s, element d goes to
/// tile[s * pitch + d]. Rows from key `end` on and columns from D on are filled with 0.
template <int THREADS, int ROWS = kKeys, int COLUMNS = kHead>
__device__ void load_tile(float* tile, int pitch, const Table& from, std::int64_t s0,
                          std::int64_t end, int D) {
#pragma unroll 8
    for (int i = threadIdx.x % THREADS; i < ROWS * COLUMNS; i += THREADS) {
        const int s = i / COLUMNS, d = i % COLUMNS;
        tile[s * pitch + d] = s0 + s < end && d < D ? from(s0 + s, d) : 0;
    }
}

}  // namespace sixdays::day06_transformer_ops
