// The CPU reference: for each query, four passes over the keys that it sees.
#include <cfloat>
#include <cmath>
#include <vector>

#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [attention]
void attention_loop(const AttentionProblem& p, const View<float>& log_sums, float* score) {
    const std::int64_t D = p.q.length, counted = p.counted();
    for (std::int64_t r = 0; r < p.q.count(); ++r) {
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
        float m = -FLT_MAX;  // not -infinity: -infinity minus -infinity is NaN
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
            out[d] = n > 0 ? x / sum : 0;
        }
        if (log_sums.data != nullptr) log_sums(at) = m + std::log(sum);
    }
}
// [attention]

}  // namespace

void attention_cpu(View<const float> q, View<const float> k, View<const float> v,
                   const AttentionOptions& options, View<float> out, View<float> log_sums) {
    (void)plan_attention(q, k, v, options, out, log_sums);
    if ((log_sums.data != nullptr ? log_sums.size() : out.size()) == 0) return;
    const AttentionProblem p = attention_problem(q, k, v, options, out);
    if (p.counted() < 0) {
        reject("attention: length is ", options.length(), ", but there are ", p.S, " keys");
    }
    std::vector<float> score(static_cast<std::size_t>(p.S));
    // Always true; GCC 14 cannot know that and warns of index -1.
    if (p.q.first.rank() > 0) attention_loop(p, log_sums, score.data());
}

}  // namespace sixdays::day06_transformer_ops
