// The CPU reference: one query after another.
#include <vector>

#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

template <class T>
void attention_bf16_cpu(View<const T> q, View<const T> k, View<const T> v,
                        const AttentionOptions& options, View<T> out, View<float> log_sums) {
    (void)plan_attention_bf16(q, k, v, options, out, log_sums,
                              {.path = AttentionBf16Path::four_passes});
    if (out.size() == 0) return;
    const auto p = attention_bf16_problem(q, k, v, options, out, log_sums);
    const std::int64_t counted = p.counted();
    if (counted < 0) {
        reject("attention_bf16: length is ", options.length(), ", but there are ", p.S, " keys");
    }
    std::vector<float> score(static_cast<std::size_t>(p.S));
    for (std::int64_t r = 0; r < p.q.count(); ++r) {
        attend_in_passes(p, r, counted, score.data());
    }
}

template void attention_bf16_cpu(View<const bf16>, View<const bf16>, View<const bf16>,
                                 const AttentionOptions&, View<bf16>, View<float>);
template void attention_bf16_cpu(View<const f16>, View<const f16>, View<const f16>,
                                 const AttentionOptions&, View<f16>, View<float>);

}  // namespace sixdays::day06_transformer_ops
