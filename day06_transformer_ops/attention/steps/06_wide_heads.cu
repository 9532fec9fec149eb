// Step 6: heads too wide for the registers of a warp. As in step 2, one warp per query and online
// softmax, but the sums are kept in `out`: lane l updates elements l, l + 32, ... of it for every
// key. Slow, but it needs no workspace, whatever the width.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    attention_wide_heads_kernel(const __grid_constant__ AttentionProblem p) {
    const std::int64_t r = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
    if (r >= p.q.count()) return;  // all lanes of the warp
    const int lane = threadIdx.x % 32;
    const std::int64_t D = p.q.length, counted = p.counted(), n = p.seen(r % p.tokens(), counted);
    const Index at = unravel(r, p.q.first.layout.shape);
    const Row<const float> q = p.q.row(r);
    const Row<float> out = p.out.row(r);
    const Table k = p.keys_of(at), v = p.values_of(at);
    float m = -FLT_MAX, sum = 0;
    for (std::int64_t d = lane; d < D; d += 32) out[d] = 0;
    for (std::int64_t s = 0; s < n; ++s) {
        float some = 0;
        for (std::int64_t d = lane; d < D; d += 32) some += q[d] * k(s, d);
        const float score = p.scale * gpu::warp_reduce(some, Plus());
        const float larger = fmaxf(m, score);
        const float old = expf(m - larger), e = expf(score - larger);
        m = larger;
        sum = sum * old + e;
        for (std::int64_t d = lane; d < D; d += 32) out[d] = out[d] * old + e * v(s, d);
    }
    for (std::int64_t d = lane; d < D; d += 32) {
        out[d] = counted < 0 ? NAN : n > 0 ? out[d] / sum : 0;
    }
}

}  // namespace

void launch_attention_wide_heads(const AttentionProblem& p, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(p.q.count(), kThreads / 32);
    attention_wide_heads_kernel<<<grid, kThreads, 0, stream>>>(p);
    gpu::check_launch("attention_wide_heads_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
