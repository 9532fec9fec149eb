/// @file
/// For .cu files: where a block's queries, keys and values are, and where its outputs go.
#pragma once

#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/steps/warp.hpp"

namespace sixdays::day06_transformer_ops {

/// The block's shared memory: its queries, and a ring of tiles of keys and of values.
template <class C>
struct Tiles {
    using T = typename C::Element;
    Panel<T, C::kQueries> queries;
    T *all_keys, *all_values;

    __device__ __forceinline__ explicit Tiles(unsigned char* memory) {
        gpu::SharedTiles tiles(memory);
        queries = {tiles.next<T>(C::kQueries * C::kHead)};
        all_keys = tiles.next<T>(C::kStages * C::kKeys * C::kHead);
        all_values = tiles.next<T>(C::kStages * C::kKeys * C::kHead);
    }
    __device__ __forceinline__ Panel<T, C::kKeys> keys(int stage) const {
        return {all_keys + stage * C::kKeys * C::kHead};
    }
    __device__ __forceinline__ Panel<T, C::kKeys> values(int stage) const {
        return {all_values + stage * C::kKeys * C::kHead};
    }
};

/// This thread's part in copying one tile of rows after another: 16 bytes of a row, and the same
/// columns of later rows. Anything past the last row or past the head's D elements becomes 0.
template <class C, int ROWS>
struct Copies {
    using T = typename C::Element;
    static constexpr int kStep = C::kThreads / (C::kHead / 8);  // rows from one copy to the next
    static_assert(kStep % 8 == 0, "so that the swizzle is the same for all of them");
    const T* from;      // start of the next tile
    std::int64_t step;  // elements from one copy to the next
    int left;           // rows from this thread's first on; all rows together fit an int
    int to;             // in the tile

    __device__ __forceinline__ Copies(const T* first, std::int64_t pitch, std::int64_t rows,
                                      std::int64_t D) {
        const int i = static_cast<int>(threadIdx.x);
        const int row = i / (C::kHead / 8), column = i % (C::kHead / 8) * 8;
        from = first + row * pitch + column;
        step = kStep * pitch;
        left = column < D ? static_cast<int>(rows) - row : 0;
        to = Panel<T, ROWS>::offset(row, column);
    }
    __device__ __forceinline__ void start(Panel<T, ROWS> tile) {
#pragma unroll
        for (int r = 0; r < ROWS; r += kStep) {
            gpu::copy_async<16>(tile.data + to + r * 64, from, r < left ? 16 : 0);
            from += step;
        }
        left -= ROWS;
    }
};

/// The queries of this block, and those of this warp.
template <class C>
struct Place {
    using T = typename C::Element;
    const AttentionBf16Problem<T>& p;
    Index at;               // the first query of the head
    std::int64_t t0, my_t;  // the block's first query, the warp's
    std::int64_t counted;   // valid keys
    std::int64_t most;      // keys that the block's last query sees
    std::int64_t seen;      // keys that the warp's first query sees

    /// Block b has queries of head b % heads. The last queries, which see most keys, come first.
    __device__ __forceinline__ Place(const AttentionBf16Problem<T>& problem, unsigned heads)
        : Place(problem, blockIdx.x % heads, (gridDim.x - 1 - blockIdx.x) / heads) {}
    /// @param down  blocks of queries before this one
    __device__ __forceinline__ Place(const AttentionBf16Problem<T>& problem, unsigned head,
                                     unsigned down)
        : p(problem) {
        at = unravel(std::int64_t{head} * p.tokens(), p.q.first.layout.shape);
        t0 = std::int64_t{down} * C::kQueries;
        my_t = t0 + threadIdx.x / 32 * (C::kDown * 16);
        counted = p.counted();
        most = p.seen(min(t0 + C::kQueries, p.tokens()) - 1, counted);
        seen = p.causal ? counted - p.tokens() + my_t + 1 : counted;
    }
    __device__ __forceinline__ Copies<C, C::kQueries> queries() const {
        const std::int64_t pitch = p.q.first.stride(p.q.first.rank() - 1);
        return {&p.q.first(at) + t0 * pitch, pitch, p.tokens() - t0, p.q.length};
    }
    __device__ __forceinline__ Copies<C, C::kKeys> keys() const {
        return {&p.keys(at), p.k_along_s, most, p.q.length};
    }
    __device__ __forceinline__ Copies<C, C::kKeys> values() const {
        return {&p.values(at), p.v_along_s, most, p.q.length};
    }
    /// Does one of the warp's queries see a key of the tile from s0 on?
    __device__ __forceinline__ bool sees(std::int64_t s0) const {
        return !p.causal || s0 < seen + C::kDown * 16 - 1;
    }
    __device__ __forceinline__ void hide(Warp<C>& mine, std::int64_t s0) const {
        if (s0 + C::kKeys > seen) mine.hide(static_cast<int>(seen - s0), p.causal ? 1 : 0);
    }
    __device__ __forceinline__ void store(const Warp<C>& mine) const;
};

/// The ring of stages: tiles of keys and values in flight.
template <class C>
struct Ring {
    const Tiles<C>& tiles;
    std::int64_t most;
    Copies<C, C::kKeys> keys, values;
    __device__ __forceinline__ Ring(const Tiles<C>& t, const Place<C>& place)
        : tiles(t), most(place.most), keys(place.keys()), values(place.values()) {
        Copies<C, C::kQueries> queries = place.queries();
        queries.start(tiles.queries);
        gpu::copy_async_commit();
        for (int s = 0; s < C::kStages - 1; ++s) copy(s, s * C::kKeys);
    }
    /// Starts copying the tile of keys from s0 on, as a separate copy group.
    __device__ __forceinline__ void copy(int stage, std::int64_t s0) {
        if (s0 < most) {
            keys.start(tiles.keys(stage));
            values.start(tiles.values(stage));
        }
        gpu::copy_async_commit();  // an empty group too: the wait counts groups
    }
};

/// Divides by the sums, rounds, and stores two adjacent elements at a time.
template <class C>
__device__ __forceinline__ void Place<C>::store(const Warp<C>& mine) const {
    const int lane = static_cast<int>(threadIdx.x % 32), along_t = p.out.first.rank() - 1;
    T* const out = &p.out.first(at) + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < C::kDown; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float sum = mine.sum[i][h];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            const std::int64_t t = my_t + 16 * i + 8 * h + lane / 4;
            if (t >= p.tokens()) continue;
            // A token that sees nothing has sum 0 and gets 0. One that sees keys and has sum 0 has
            // only scores of -infinity: NaN. A sum that is NaN stays NaN.
            const std::int64_t seen_by_t = p.causal ? seen + t - my_t : seen;
            if (counted < 0) sum = NAN;
            const float factor = sum == 0 ? (seen_by_t > 0 ? NAN : 0) : 1 / sum;
            T* const row = out + t * p.out.first.stride(along_t);
#pragma unroll
            for (int d = 0; d < C::kHead; d += 8) {
                if (d >= p.q.length) break;  // D is a multiple of a vector
                const float* const pair = &mine.out[i][d / 8][2 * h];
                *reinterpret_cast<std::uint32_t*>(row + d) =
                    gpu::pack<T>(factor * pair[0], factor * pair[1]);
            }
            if (p.log_sums.data != nullptr && lane % 4 == 0) {
                Index query = at;
                query[along_t] = t;
                // The maximum is a base-2 exponent: times log(2).
                p.keep_log_sum(query, mine.m[i][h] * 0.693147181f, sum);
            }
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
