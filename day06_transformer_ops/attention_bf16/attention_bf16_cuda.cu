// The loop's twin, a thread for each query, and the launcher. What is faster is in steps/.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twin ------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 128;

// [attention]
// scores: a row of S for each query, so that no two threads share one.
template <class T>
__global__ void attention_bf16_kernel(const __grid_constant__ AttentionBf16Problem<T> p,
                                      float* scores) {
    const std::int64_t D = p.q.length, counted = p.counted();
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.q.count()) {
        float* score = scores + r * p.S;
        const Index at = unravel(r, p.q.first.layout.shape);
        const std::int64_t n = p.seen(r % p.tokens(), counted);
        const Row<const T> q = p.q.row(r);
        const TableOf<T> k = p.keys_of(at), v = p.values_of(at);
        const Row<T> out = p.out.row(r);
        // 1. how well each key fits the query, and the best of them
        float m = -INFINITY;
        for (std::int64_t s = 0; s < n; ++s) {
            float dot = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                dot += float(q[d]) * float(k(s, d));
            }
            score[s] = p.scale * dot;
            m = std::fmax(m, score[s]);
        }
        // 2. scores become shares, but for the factor 1 / sum
        float sum = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            score[s] = std::exp(score[s] - m);
            sum += score[s];
        }
        // 3. the values, each by its share
        for (std::int64_t d = 0; d < D; ++d) {
            float x = 0;
            for (std::int64_t s = 0; s < n; ++s) {
                x += score[s] * float(v(s, d));
            }
            out[d] = T(counted < 0 ? NAN : n > 0 ? x / sum : 0);
        }
        p.keep_log_sum(at, m, counted < 0 ? NAN : sum);
    }
}
// [attention]

}  // namespace

// --- launcher ------------------------------------------------------------------------------------

template <class T>
void attention_bf16_cuda(View<const T> q, View<const T> k, View<const T> v,
                         const AttentionOptions& options, View<T> out, View<float> log_sums,
                         const gpu::Launch<AttentionBf16Path>& how) {
    check_attention_bf16(q, k, v, options, out, log_sums, how.path);
    if (out.size() == 0) return;
    const auto p = attention_bf16_problem(q, k, v, options, out, log_sums);
    switch (how.path ? *how.path : choose_attention_bf16(q, k, v, out)) {
        case AttentionBf16Path::four_passes: {
            const auto scores = gpu::carve("attention_bf16", how.workspace, [&](gpu::Carver& c) {
                return attention_bf16_scores(c, q, k);
            });
            const unsigned grid = gpu::blocks_for(p.q.count(), kThreads);
            attention_bf16_kernel<T><<<grid, kThreads, 0, how.stream>>>(p, scores.data);
            return gpu::check_launch("attention_bf16_kernel", grid, kThreads);
        }
        case AttentionBf16Path::tensor_cores:
            return launch_attention_tensor_cores(p, how.stream);
        case AttentionBf16Path::guessed_maximum:
            return launch_attention_guessed_maximum(p, how.stream);
    }
}

template void attention_bf16_cuda(View<const bf16>, View<const bf16>, View<const bf16>,
                                  const AttentionOptions&, View<bf16>, View<float>,
                                  const gpu::Launch<AttentionBf16Path>&);
template void attention_bf16_cuda(View<const f16>, View<const f16>, View<const f16>,
                                  const AttentionOptions&, View<f16>, View<float>,
                                  const gpu::Launch<AttentionBf16Path>&);

}  // namespace sixdays::day06_transformer_ops
