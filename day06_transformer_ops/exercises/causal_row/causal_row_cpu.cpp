#include <cmath>
#include <vector>

#include "day06_transformer_ops/exercises/causal_row/causal_row.hpp"

namespace sixdays::day06_transformer_ops {

void causal_row_cpu(View<const float> q, View<const float> k, View<const float> v,
                    View<float> out) {
    check_causal_row(q, k, v, out);
    const std::int64_t T = q.extent(0), D = q.extent(1);
    const float scale = 1 / std::sqrt(static_cast<float>(D));
    std::vector<float> score(static_cast<std::size_t>(T));
    for (std::int64_t t = 0; t < T; ++t) {
        float m = -INFINITY;
        for (std::int64_t s = 0; s <= t; ++s) {
            float dot = 0;
            for (std::int64_t d = 0; d < D; ++d) dot += q(t, d) * k(s, d);
            score[static_cast<std::size_t>(s)] = scale * dot;
            m = std::fmax(m, scale * dot);
        }
        for (std::int64_t d = 0; d < D; ++d) {
            float sum = 0, x = 0;
            for (std::int64_t s = 0; s <= t; ++s) {
                const float e = std::exp(score[static_cast<std::size_t>(s)] - m);
                sum += e;
                x += e * v(s, d);
            }
            out(t, d) = x / sum;
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
