// Step 3: decoding has one query per head, and step 2 would leave seven of its eight warps without
// work. Here all warps of a block share one query and split its keys: warp w takes tiles w, w + 8,
// ... Then one warp combines the eight partial sums, each relative to its own maximum.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;

__global__ void __launch_bounds__(kThreads)
    attention_split_keys_kernel(const __grid_constant__ AttentionProblem p) {
    __shared__ float query[kHead];
    __shared__ Online of_warp[kWarps][32];
    const int D = static_cast<int>(p.q.length);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::int64_t r = blockIdx.x, counted = p.counted();
    const Index at = unravel(r, p.q.first.layout.shape);
    const Table k = p.keys_of(at), v = p.values_of(at);
    for (int d = threadIdx.x; d < kHead; d += kThreads) query[d] = d < D ? p.q.row(r)[d] : 0;
    __syncthreads();

    const std::int64_t n = p.seen(r % p.tokens(), counted);
    Online o = {-FLT_MAX, 0, {}};
    for (std::int64_t s0 = warp * kKeys; s0 < n; s0 += kWarps * kKeys) {
        const bool seen = s0 + lane < n;
        float dot = 0;
        for (int d = 0; seen && d < D; ++d) dot += query[d] * k(s0 + lane, d);
        const int some = n - s0 < kKeys ? static_cast<int>(n - s0) : kKeys;
        take(o, seen ? p.scale * dot : -INFINITY, some,
             [&](int j, int d) { return d < D ? v(s0 + j, d) : 0; });
    }
    of_warp[warp][lane] = o;
    __syncthreads();
    if (warp > 0) return;
    for (int w = 1; w < kWarps; ++w) {
        const Online& other = of_warp[w][lane];
        const float m = fmaxf(o.m, other.m), a = expf(o.m - m), b = expf(other.m - m);
        o.m = m;
        o.sum = o.sum * a + other.sum * b;
        for (int i = 0; i < kHead / 32; ++i) o.x[i] = o.x[i] * a + other.x[i] * b;
    }
    for (int d = lane, i = 0; d < D; d += 32, ++i) {
        p.out.row(r)[d] = counted < 0 ? NAN : n > 0 ? o.x[i] / o.sum : 0;
    }
}

}  // namespace

void launch_attention_split_keys(const AttentionProblem& p, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(p.q.count(), 1);
    attention_split_keys_kernel<<<grid, kThreads, 0, stream>>>(p);
    gpu::check_launch("attention_split_keys_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
