// Step 2: fused; no score is written to memory. A block has 8 queries of one head, one warp each,
// and loops over the keys in tiles of 32, which it reads once for all 8. Each lane computes the
// score of one key; then the warp adds the 32 values times their weights, each lane some columns of
// the sum. The softmax is online, as in softmax's step 3. (FlashAttention: Dao and others 2022,
// arXiv 2205.14135.)
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kQueries = 8;
constexpr int kThreads = 32 * kQueries;

// blocks_of_head: blocks per head. All queries of a block belong to one head.
__global__ void __launch_bounds__(kThreads)
    attention_fused_kernel(const __grid_constant__ AttentionProblem p, unsigned blocks_of_head) {
    __shared__ float keys[kKeys * (kHead + 1)];  // lanes read a column: pitch 129 avoids conflicts
    __shared__ float values[kKeys * kHead];
    __shared__ float queries[kQueries][kHead];
    const int D = static_cast<int>(p.q.length);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::int64_t T = p.tokens(), head = blockIdx.x / blocks_of_head;
    const std::int64_t t0 = std::int64_t{blockIdx.x % blocks_of_head} * kQueries, t = t0 + warp;
    const std::int64_t last = t0 + kQueries < T ? t0 + kQueries - 1 : T - 1;
    // A warp without a query repeats the last one.
    const std::int64_t r = head * T + (t < T ? t : last);
    const Index at = unravel(r, p.q.first.layout.shape);
    const Table k = p.keys_of(at), v = p.values_of(at);
    for (int d = lane; d < kHead; d += 32) queries[warp][d] = d < D ? p.q.row(r)[d] : 0;

    const std::int64_t counted = p.counted();
    const std::int64_t n = p.seen(t < T ? t : last, counted), most = p.seen(last, counted);
    // [loop]
    Online o = {-FLT_MAX, 0, {}};
    for (std::int64_t s0 = 0; s0 < most; s0 += kKeys) {
        __syncthreads();  // all warps have finished the previous tile
        load_tile<kThreads>(keys, kHead + 1, k, s0, most, D);
        load_tile<kThreads>(values, kHead, v, s0, most, D);
        __syncthreads();
        if (s0 >= n) continue;  // all lanes of the warp
        float dot = 0;
        for (int d = 0; d < D; ++d) {
            dot += queries[warp][d] * keys[lane * (kHead + 1) + d];
        }
        const bool seen = s0 + lane < n;
        const int some = n - s0 < kKeys ? static_cast<int>(n - s0) : kKeys;
        take(o, seen ? p.scale * dot : -INFINITY, some,
             [&](int j, int d) { return values[j * kHead + d]; });
    }
    // [loop]
    if (t >= T) return;
    for (int d = lane, i = 0; d < D; d += 32, ++i) {
        p.out.row(r)[d] = counted < 0 ? NAN : n > 0 ? o.x[i] / o.sum : 0;
    }
}

}  // namespace

void launch_attention_fused(const AttentionProblem& p, gpu::Stream stream) {
    const unsigned blocks_of_head = gpu::blocks_for(p.tokens(), kQueries);
    const unsigned grid = gpu::blocks_for(p.q.count() / p.tokens() * blocks_of_head, 1);
    attention_fused_kernel<<<grid, kThreads, 0, stream>>>(p, blocks_of_head);
    gpu::check_launch("attention_fused_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
