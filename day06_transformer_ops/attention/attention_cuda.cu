// The twin, one thread per query, and the launcher. Faster versions are in steps/.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/attention/steps/steps.hpp"
#include "day06_transformer_ops/attention/tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twin ------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 128;

// scores: one row of S per query, so that no two threads share one.
__global__ void attention_kernel(const __grid_constant__ AttentionProblem p, float* scores) {
    const std::int64_t D = p.q.length, counted = p.counted();
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.q.count()) {
        float* score = scores + r * p.S;
        const Index at = unravel(r, p.q.first.layout.shape);
        const std::int64_t n = p.seen(r % p.tokens(), counted);
        const Row<const float> q = p.q.row(r);
        const Table k = p.keys_of(at), v = p.values_of(at);
        const Row<float> out = p.out.row(r);
        // 1. scores
        for (std::int64_t s = 0; s < n; ++s) {
            float dot = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                dot += q[d] * k(s, d);
            }
            score[s] = p.scale * dot;
        }
        // 2. their maximum
        float m = -INFINITY;
        for (std::int64_t s = 0; s < n; ++s) {
            m = std::fmax(m, score[s]);
        }
        // 3. exponentials and their sum; weight = exp / sum
        float sum = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            score[s] = std::exp(score[s] - m);
            sum += score[s];
        }
        // 4. values, each times its weight
        for (std::int64_t d = 0; d < D; ++d) {
            float x = 0;
            for (std::int64_t s = 0; s < n; ++s) {
                x += score[s] * v(s, d);
            }
            out[d] = counted < 0 ? NAN : n > 0 ? x / sum : 0;
        }
    }
}

}  // namespace

// --- launcher ------------------------------------------------------------------------------------

void attention_cuda(View<const float> q, View<const float> k, View<const float> v,
                    const AttentionOptions& options, View<float> out, View<float> log_sums,
                    const gpu::Launch<AttentionPath>& how) {
    const AttentionPath path =
        plan_attention(q, k, v, options, out, log_sums, how, gpu::most_shared());
    if ((log_sums.data != nullptr ? log_sums.size() : out.size()) == 0) return;
    const AttentionProblem p = attention_problem(q, k, v, options, out);
    switch (path) {
        case AttentionPath::four_passes: {
            const View<float> scores = gpu::carve("attention", how.workspace, [&](gpu::Carver& c) {
                return attention_scores(c, q, k);
            });
            const unsigned grid = gpu::blocks_for(p.q.count(), kThreads);
            attention_kernel<<<grid, kThreads, 0, how.stream>>>(p, scores.data);
            return gpu::check_launch("attention_kernel", grid, kThreads);
        }
        case AttentionPath::fused:
            return launch_attention_fused(p, how.stream);
        case AttentionPath::split_keys:
            return launch_attention_split_keys(p, how.stream);
        case AttentionPath::tiles:
            return launch_attention_tiles(p, log_sums, how.stream);
        case AttentionPath::split_blocks: {
            const std::int64_t parts = how.workspace ? attention_parts(q, k) : 1;
            const auto partials = gpu::carve("attention", how.workspace, [&](gpu::Carver& c) {
                return attention_partials(c, q, parts);
            });
            return launch_attention_split_blocks(p, partials, how.stream);
        }
        case AttentionPath::wide_heads:
            return launch_attention_wide_heads(p, how.stream);
        case AttentionPath::tile:
            return gpu::by_tile("attention", [&] {
                launch_attention_tile(*stacked<float>(kStackOfFloats, q, k, v, out), p, how.stream);
            });
    }
}

}  // namespace sixdays::day06_transformer_ops
