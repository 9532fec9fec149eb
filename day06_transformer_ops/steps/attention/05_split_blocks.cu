// Step 5: step 3 has a block for each query, and twelve heads would leave most multiprocessors without
// work. Here many blocks share a query's keys, as in Day 04's step 8: each leaves its sums in the
// workspace, and the block that is done last joins them. Keys and values are read in quads: the lanes
// that share a key have 4 of its numbers each, and four keys and values are in flight.
#include "common/gpu/last_block.hpp"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/attention/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;
constexpr int kEach = 4;           // keys of a group of lanes in flight
constexpr int kPitch = kHead + 2;  // a partial result in shared memory: m, sum, elements

// [take_keys]
/// A lane's part of a query's sums; m and sum are the same in all lanes of a group.
struct Partial {
    float m = -FLT_MAX, sum = 0;
    float x[4] = {};
};

__device__ float4 quad_of(const Table& from, std::int64_t s, int d) {
    return *reinterpret_cast<const float4*>(&from(s, d));
}

/// Takes keys first to last - 1, each by a group of LANES lanes. What a key
/// adds is 0 where there is none: exp(-infinity - m), and a value of zeros.
template <int LANES>
__device__ void take_keys(Partial& o, const float4& q, const Table& k, const Table& v, float scale,
                          std::int64_t first, std::int64_t last, int D) {
    constexpr int kGroups = kThreads / LANES;
    const int group = threadIdx.x / LANES, d = threadIdx.x % LANES * 4;
    for (; first < last; first += kGroups * kEach) {
        float4 key[kEach] = {}, value[kEach] = {};
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t s = first + j * kGroups + group;
            if (s < last && d < D) key[j] = quad_of(k, s, d), value[j] = quad_of(v, s, d);
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
// [take_keys]

// [join]
/// Partial results lie `pitch` floats from each other: m, sum, elements. What n
/// of them make of element d.
__device__ float joined(const float* found, int n, int pitch, int d, float& m, float& sum) {
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
// [join]

// [kernel]
template <int LANES>
__global__ void __launch_bounds__(kThreads)
    attention_split_blocks_kernel(const __grid_constant__ AttentionProblem p, unsigned parts,
                                  float* found, unsigned* done) {
    __shared__ float of_group[kThreads / LANES][kPitch];
    const int D = static_cast<int>(p.q.length), t = threadIdx.x;
    const int group = t / LANES, d = t % LANES * 4;
    const std::int64_t r = blockIdx.x / parts, part = blockIdx.x % parts;
    const Index at = unravel(r, p.q.first.layout.shape);
    const Row<const float> row = p.q.row(r);
    float4 q = {};
    if (d < D) q = make_float4(row[d], row[d + 1], row[d + 2], row[d + 3]);

    const std::int64_t counted = p.counted(), n = p.seen(r % p.tokens(), counted);
    const std::int64_t each = (n + parts - 1) / parts, first = part * each;
    Partial o;
    take_keys<LANES>(o, q, p.keys_of(at), p.values_of(at), p.scale, first,
                     first + each < n ? first + each : n, D);
    of_group[group][0] = o.m, of_group[group][1] = o.sum;
    for (int e = 0; e < 4; ++e) of_group[group][2 + d + e] = o.x[e];
    __syncthreads();
    float m, sum, x = 0;
    if (t < D) x = joined(of_group[0], kThreads / LANES, kPitch, t, m, sum);
    if (parts > 1) {
        found += r * parts * (D + 2);
        float* const mine = found + part * (D + 2);
        if (t < D) mine[2 + t] = x;
        if (t == 0) mine[0] = m, mine[1] = sum;
        if (!gpu::last_to_come(done + r, parts)) return;
        if (t < D) x = joined(found, static_cast<int>(parts), D + 2, t, m, sum);
    }
    if (t < D) p.out.row(r)[t] = counted < 0 ? NAN : n > 0 ? x / sum : 0;
}
// [kernel]

}  // namespace

void launch_attention_split_blocks(const AttentionProblem& p, const AttentionPartials& partials,
                                   gpu::Stream stream) {
    const auto parts = static_cast<unsigned>(partials.found.extent(1));
    const unsigned grid = gpu::blocks_for(p.q.count() * parts, 1);
    const auto kernel =
        p.q.length <= 64 ? attention_split_blocks_kernel<16> : attention_split_blocks_kernel<32>;
    kernel<<<grid, kThreads, 0, stream>>>(p, parts, partials.found.data, partials.done.data);
    gpu::check_launch("attention_split_blocks_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
