// The plain loop: that of attention, each number becoming a float when it is read.
#include <cmath>
#include <vector>

#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [attention]
template <class T>
void attention_bf16_loop(const AttentionBf16Problem<T>& p, float* score) {
    const std::int64_t D = p.q.length, counted = p.counted();
    for (std::int64_t r = 0; r < p.q.count(); ++r) {
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
            out[d] = T(n > 0 ? x / sum : 0);
        }
        p.keep_log_sum(at, m, sum);
    }
}
// [attention]

}  // namespace

template <class T>
void attention_bf16_cpu(View<const T> q, View<const T> k, View<const T> v,
                        const AttentionOptions& options, View<T> out, View<float> log_sums) {
    check_attention_bf16(q, k, v, options, out, log_sums);
    if (out.size() == 0) return;
    const auto p = attention_bf16_problem(q, k, v, options, out, log_sums);
    if (p.counted() < 0) {
        refuse("attention_bf16: length is " + std::to_string(options.length()) +
               ", but there are " + std::to_string(p.S) + " keys");
    }
    std::vector<float> score(static_cast<std::size_t>(p.S));
    attention_bf16_loop(p, score.data());
}

template void attention_bf16_cpu(View<const bf16>, View<const bf16>, View<const bf16>,
                                 const AttentionOptions&, View<bf16>, View<float>);
template void attention_bf16_cpu(View<const f16>, View<const f16>, View<const f16>,
                                 const AttentionOptions&, View<f16>, View<float>);

}  // namespace sixdays::day06_transformer_ops
