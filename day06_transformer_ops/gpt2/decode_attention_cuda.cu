// Attention of one token: its query, and the keys and values of all positions so far. A block has a
// head and a share of the positions, 16 lanes a position: so that a small model keeps a large GPU
// busy. The phase behind it joins the shares.
#include <cfloat>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/gpt2/decode.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kLanes = 16;  // of a position
constexpr int kThreads = 256;
constexpr int kGroups = kThreads / kLanes;
constexpr int kDeep = 4;  // positions of a group at a time, all their loads in flight

__device__ __forceinline__ float dot(const float4& a, const float4& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// [attend]
/// A group's positions so far: the largest score, and sums of exp(score - largest).
template <int PIECES>  // quads of a head that a lane has
struct Seen {
    float top = -FLT_MAX, sum = 0;
    float4 x[PIECES] = {};

    __device__ __forceinline__ void take(const float (&score)[kDeep], const bool (&seen)[kDeep],
                                         const float4 (&value)[kDeep][PIECES]) {
        float larger = top;
        for (int j = 0; j < kDeep; ++j) larger = seen[j] ? fmaxf(larger, score[j]) : larger;
        const float old = expf(top - larger);
        top = larger;
        sum *= old;
        for (int i = 0; i < PIECES; ++i) {
            x[i] = make_float4(x[i].x * old, x[i].y * old, x[i].z * old, x[i].w * old);
        }
        for (int j = 0; j < kDeep; ++j) {
            const float share = seen[j] ? expf(score[j] - top) : 0;
            sum += share;
            for (int i = 0; i < PIECES; ++i) {
                x[i].x += share * value[j][i].x, x[i].y += share * value[j][i].y;
                x[i].z += share * value[j][i].z, x[i].w += share * value[j][i].w;
            }
        }
    }
};

template <int PIECES>
__global__ void __launch_bounds__(kThreads)
    attend_kernel(const float* query, const __grid_constant__ KvSlots cache,
                  const std::int64_t* place, float scale,
                  const __grid_constant__ AttentionParts parts) {
    __shared__ float tops[kGroups], totals[kGroups];
    __shared__ float4 sums[kGroups][kLanes * PIECES];
    const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
    const std::int64_t head = blockIdx.x, split = blockIdx.y, D = parts.D;
    const float* const keys = cache.keys.data + head * cache.keys.stride(0);
    const float* const values = cache.values.data + head * cache.values.stride(0);
    gpu::let_next_start();
    gpu::wait_for_previous();

    const std::int64_t length = *place + 1, each = (length + kSplits - 1) / kSplits;
    const std::int64_t begin = split * each, end = min(length, begin + each);
    float4 q[PIECES];
    for (int i = 0; i < PIECES; ++i) {
        const int d = 4 * (lane + i * kLanes);
        q[i] = make_float4(0, 0, 0, 0);
        if (d < D) q[i] = *reinterpret_cast<const float4*>(query + head * D + d);
    }
    Seen<PIECES> seen_so_far;
    for (std::int64_t s0 = begin; s0 < end; s0 += kGroups * kDeep) {
        float4 k[kDeep][PIECES] = {}, v[kDeep][PIECES] = {};
        float score[kDeep];
        bool seen[kDeep];
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            const std::int64_t s = s0 + j * kGroups + group;
            seen[j] = s < end;
            for (int i = 0; i < PIECES; ++i) {
                const int d = 4 * (lane + i * kLanes);
                if (!seen[j] || d >= D) continue;
                k[j][i] = *reinterpret_cast<const float4*>(keys + s * D + d);
                v[j][i] = *reinterpret_cast<const float4*>(values + s * D + d);
            }
        }
#pragma unroll
        for (int j = 0; j < kDeep; ++j) {
            float sum = 0;
            for (int i = 0; i < PIECES; ++i) sum += dot(q[i], k[j][i]);
            score[j] = scale * gpu::warp_reduce<kLanes>(sum, gpu::Plus());
        }
        seen_so_far.take(score, seen, v);
    }
    if (lane == 0) tops[group] = seen_so_far.top, totals[group] = seen_so_far.sum;
    for (int i = 0; i < PIECES; ++i) sums[group][lane + i * kLanes] = seen_so_far.x[i];
    __syncthreads();

    // The groups' shares become the block's.
    if (threadIdx.x >= D) return;
    float largest = tops[0], total = 0, sum = 0;
    for (int g = 1; g < kGroups; ++g) largest = fmaxf(largest, tops[g]);
    for (int g = 0; g < kGroups; ++g) {
        const float share = expf(tops[g] - largest);
        total += share * totals[g];
        sum += share * reinterpret_cast<const float*>(sums[g])[threadIdx.x];
    }
    const std::int64_t part = head * kSplits + split;
    parts.sums[part * D + threadIdx.x] = sum;
    if (threadIdx.x == 0) parts.tops[2 * part] = largest, parts.tops[2 * part + 1] = total;
}
// [attend]

}  // namespace

void launch_attend(const float* query, const KvSlots& cache, const std::int64_t* place,
                   const AttentionParts& parts, gpu::Stream queue) {
    const dim3 grid(static_cast<unsigned>(cache.keys.extent(0)), kSplits);
    const float scale = 1 / std::sqrt(static_cast<float>(parts.D));
    if (parts.D <= 4 * kLanes) {
        attend_kernel<1><<<grid, kThreads, 0, queue>>>(query, cache, place, scale, parts);
    } else {
        attend_kernel<2><<<grid, kThreads, 0, queue>>>(query, cache, place, scale, parts);
    }
    gpu::check_launch("attend_kernel", grid, kThreads);
}

}  // namespace sixdays::gpt2
