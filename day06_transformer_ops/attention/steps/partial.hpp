/// @file
/// For .cu files: a block's partial result for one query from some of its keys, and how to
/// combine several of them. Used by step 5 and by GPT-2's attention of one token.
#pragma once

#include "day06_transformer_ops/attention/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {

inline constexpr int kEach = 4;             // keys in flight per group of lanes
inline constexpr int kPartial = 2 + kHead;  // floats per result: m, sum, elements

/// A lane's part of a query's sums; m and sum are the same in all lanes of a group.
struct Partial {
    float m = -FLT_MAX, sum = 0;
    float x[4] = {};
};

__device__ inline float4 vector_of(const Table& from, std::int64_t s, int d) {
    return *reinterpret_cast<const float4*>(&from(s, d));
}

/// Processes keys first to last - 1, one per group of LANES lanes. A missing key
/// adds 0: exp(-infinity - m), and a value of zeros.
template <int THREADS, int LANES>
__device__ void take_keys(Partial& o, const float4& q, const Table& k, const Table& v, float scale,
                          std::int64_t first, std::int64_t last, int D) {
    constexpr int kGroups = THREADS / LANES;
    const int group = threadIdx.x / LANES, d = threadIdx.x % LANES * 4;
    for (; first < last; first += kGroups * kEach) {
        float4 key[kEach] = {}, value[kEach] = {};
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t s = first + j * kGroups + group;
            if (s < last && d < D) key[j] = vector_of(k, s, d), value[j] = vector_of(v, s, d);
        }
        float score[kEach], m = o.m;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const float some = q.x * key[j].x + q.y * key[j].y + q.z * key[j].z + q.w * key[j].w;
            const float dot = gpu::warp_reduce<LANES>(some, Plus());
            score[j] = first + j * kGroups + group < last ? scale * dot : -INFINITY;
            m = fmaxf(m, score[j]);
        }
        const float old = expf(o.m - m);
        o.m = m;
        o.sum *= old;
        for (float& x : o.x) x *= old;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const float e = expf(score[j] - m);
            o.sum += e;
            o.x[0] += e * value[j].x, o.x[1] += e * value[j].y;
            o.x[2] += e * value[j].z, o.x[3] += e * value[j].w;
        }
    }
}

/// Element d, combined from n partial results of m, sum and elements, `pitch` floats
/// apart.
__device__ inline float joined(const float* found, int n, int pitch, int d, float& m, float& sum) {
    m = -FLT_MAX, sum = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) m = fmaxf(m, found[i * pitch]);
    float x = 0;
#pragma unroll 8
    for (int i = 0; i < n; ++i) {
        const float right = expf(found[i * pitch] - m);
        sum += right * found[i * pitch + 1];
        x += right * found[i * pitch + 2 + d];
    }
    return x;
}

/// The partial result of a block of THREADS for keys first to last - 1: m, sum
/// and, in thread t < D, element t.
template <int THREADS, int LANES>
__device__ float found_by_block(const float4& q, const Table& k, const Table& v, float scale,
                                std::int64_t first, std::int64_t last, int D, float& m,
                                float& sum) {
    __shared__ float of_group[THREADS / LANES][kPartial];
    Partial o;
    take_keys<THREADS, LANES>(o, q, k, v, scale, first, last, D);
    float* const mine = of_group[threadIdx.x / LANES];
    mine[0] = o.m, mine[1] = o.sum;
    for (int e = 0; e < 4; ++e) mine[2 + threadIdx.x % LANES * 4 + e] = o.x[e];
    __syncthreads();
    const int d = threadIdx.x;
    if (d >= D) return 0;
    return joined(of_group[0], THREADS / LANES, kPartial, d, m, sum);
}

}  // namespace sixdays::day06_transformer_ops
