// The CPU reference, over queries and over keys.
#include "day06_transformer_ops/training/bf16/attention_backward_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

void attention_backward_bf16_cpu(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                 const AttentionOptions& options, View<const bf16> out,
                                 View<const float> log_sums, View<const float> grad,
                                 const AttentionGradientsOf<bf16>& d) {
    check_attention_backward_bf16(q, k, v, options, out, log_sums, grad, d);
    const AttentionBackwardBf16 p =
        attention_backward_bf16_problem(q, k, v, options, out, log_sums, grad, d);
    for (std::int64_t head = 0; head < p.heads; ++head) {
        for (std::int64_t t = 0; t < p.T; ++t) query_back(p, head, t);
        for (std::int64_t s = 0; s < p.S; ++s) key_back(p, head, s);
    }
}

}  // namespace sixdays::day06_transformer_ops
