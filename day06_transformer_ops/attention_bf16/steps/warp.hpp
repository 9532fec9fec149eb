/// @file
/// For .cu files: a warp's work on its queries and one tile of keys and values after another.
#pragma once

#include <cfloat>

#include "common/gpu/ptx.hpp"
#include "common/gpu/ptx/mma.hpp"
#include "common/gpu/ptx/pack.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul_bf16/panel.hpp"

namespace sixdays::day06_transformer_ops {

using day05_matmul::Panel;

/// Tile sizes: 128 queries per block, 64 keys per tile. HEAD is D rounded up to 64 or 128, zero-
/// padded beyond D.
template <class T, int HEAD>
struct Cut16 {
    using Element = T;
    static constexpr int kHead = HEAD, kKeys = 64, kWarps = 4, kThreads = 32 * kWarps;
    static constexpr int kDown = 2;  // fragments of 16 queries per warp, stacked vertically
    static constexpr int kQueries = kWarps * kDown * 16;
    static constexpr int kStages = 2;           // tiles in flight
    static constexpr bool kHolds = HEAD <= 64;  // room for the queries in registers
    static constexpr std::size_t kBytes =
        gpu::tile_bytes<T>(kQueries * HEAD) + 2 * gpu::tile_bytes<T>(kStages * kKeys * HEAD);
};

/// A warp's state: m[i][0] belongs to its query 16 i + lane / 4, m[i][1] to the query 8 rows below.
template <class C>
struct Warp {
    using T = typename C::Element;
    static constexpr int kHead = C::kHead, kKeys = C::kKeys, kDown = C::kDown;
    float score[kDown][kKeys / 8][4];       // of the keys of a tile
    float out[kDown][kHead / 8][4] = {};    // running sum of weighted values
    float m[kDown][2], sum[kDown][2] = {};  // maximum; sum of this lane's weights
    Panel<T, C::kQueries> queries;
    std::uint32_t held[C::kHolds ? kHead / 16 : 1][kDown][4];  // fragments of the queries
    int row, key, value;  // offsets of this lane's part of a fragment

    __device__ __forceinline__ explicit Warp(Panel<T, C::kQueries> tile) : queries(tile) {
        const int lane = static_cast<int>(threadIdx.x % 32), warp = threadIdx.x / 32;
        row = tile.offset(warp * kDown * 16 + lane % 16, lane / 16 * 8);  // as in load_a()
        key = Panel<T, kKeys>::offset(lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8);  // load_b()
        value = Panel<T, kKeys>::offset(lane % 16, lane / 16 * 8);  // load_b_across()
        // Not -INFINITY, so that m - now is never infinity - infinity.
        for (auto& both : m) both[0] = both[1] = -FLT_MAX;
    }

    /// The fragments of this warp's queries, from column d on.
    __device__ __forceinline__ void load_queries(std::uint32_t (&q)[kDown][4], int d) const {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
            gpu::load_matrices(q[i], queries.data + further(row, d, C::kQueries) + i * 16 * 64);
        }
    }
    /// Call once, after the queries' tile has arrived.
    __device__ __forceinline__ void hold_queries() {
        if constexpr (C::kHolds) {
#pragma unroll
            for (int d = 0; d < kHead; d += 16) load_queries(held[d / 16], d);
        }
    }

    /// score = q k^T, for 32 queries and the 64 keys of a tile.
    __device__ __forceinline__ void make_scores(Panel<T, kKeys> keys) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (auto& four : score[i]) four[0] = four[1] = four[2] = four[3] = 0;
        }
#pragma unroll
        for (int d = 0; d < kHead; d += 16) {
            if constexpr (!C::kHolds) load_queries(held[0], d);
            const auto& q = held[C::kHolds ? d / 16 : 0];
#pragma unroll
            for (int s = 0; s < kKeys; s += 16) {
                std::uint32_t k[4];  // two fragments: 8 keys each
                gpu::load_matrices(k, keys.data + further(key, d, kKeys) + s * 64);
                multiply(score, s / 8, q, k);
            }
        }
    }

    /// Sets scores of masked keys to -infinity. @param seen  keys of this tile that the warp's
    /// first query sees; each later query sees `more` more
    __device__ __forceinline__ void hide(int seen, int more) {
        const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int s = 0; s < kKeys / 8; ++s) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const int query = 16 * i + lane / 4 + e / 2 * 8;
                    const int at = 8 * s + lane % 4 * 2 + e % 2;
                    if (at >= seen + more * query) score[i][s][e] = -INFINITY;
                }
            }
        }
    }

    /// The running maximum of each query, over the four lanes that share it.
    /// @param old  2^(old maximum - new maximum), in the units of m: 1 where it has not grown
    __device__ __forceinline__ void find_maximum(float (&old)[kDown][2], float scale) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float most = -INFINITY;
#pragma unroll
                for (int s = 0; s < kKeys / 8; ++s) {
                    most = fmaxf(most, fmaxf(score[i][s][2 * h], score[i][s][2 * h + 1]));
                }
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
                const float now = fmaxf(m[i][h], scale * most);
                old[i][h] = gpu::fast_exp2(m[i][h] - now);
                m[i][h] = now;
            }
        }
    }
    /// Rescales the output and the sums for the new maximum.
    __device__ __forceinline__ void rescale(const float (&old)[kDown][2]) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                sum[i][h] *= old[i][h];
#pragma unroll
                for (int d = 0; d < kHead / 8; ++d) {
                    out[i][d][2 * h] *= old[i][h];
                    out[i][d][2 * h + 1] *= old[i][h];
                }
            }
        }
    }

    // [weights]
    /// Turns the scores of 16 keys from s on into unnormalized attention weights, packed as a
    /// fragment of a. Its register j needs two adjacent elements of row h = j % 2, in the left 8
    /// columns or the right: this lane has them already.
    /// @param to  the sums that the weights are added to
    __device__ __forceinline__ void make_weights(std::uint32_t (&weight)[kDown][4],
                                                 float (&to)[kDown][2], int s, float scale) const {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const float* const pair = &score[i][s / 8 + j / 2][j % 2 * 2];
                const float a = gpu::fast_exp2(fmaf(pair[0], scale, -m[i][j % 2]));
                const float b = gpu::fast_exp2(fmaf(pair[1], scale, -m[i][j % 2]));
                to[i][j % 2] += a + b;
                weight[i][j] = gpu::pack<T>(a, b);
            }
        }
    }
    // [weights]

    // [values]
    /// out += weights v, for 16 keys from s on.
    __device__ __forceinline__ void add_values(const std::uint32_t (&weight)[kDown][4],
                                               Panel<T, kKeys> values, int s) {
#pragma unroll
        for (int d = 0; d < kHead; d += 16) {
            std::uint32_t v[4];
            gpu::load_matrices_transposed(v, values.data + further(value, d, kKeys) + s * 64);
            multiply(out, d / 8, weight, v);
        }
    }
    // [values]

private:
    /// The offset of d elements later in a row of a panel: with the swizzle, an exclusive or.
    __device__ __forceinline__ static int further(int first, int d, int rows) {
        return (first ^ d % 64) + d / 64 * rows * 64;
    }
    /// Multiplies each fragment of a by two adjacent ones of b, into the sums from column `to` on.
    template <int COLUMNS>
    __device__ __forceinline__ static void multiply(float (&sums)[kDown][COLUMNS][4], int to,
                                                    const std::uint32_t (&a)[kDown][4],
                                                    const std::uint32_t (&b)[4]) {
        const std::uint32_t left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
            gpu::mma_16x8x16<T>(sums[i][to], a[i], left);
            gpu::mma_16x8x16<T>(sums[i][to + 1], a[i], right);
        }
    }
};

}  // namespace sixdays::day06_transformer_ops
