#include "day06_transformer_ops/exercises/softmax_back/softmax_back.hpp"

namespace sixdays::day06_transformer_ops {

void softmax_back_cpu(View<const float> p, View<const float> grad, View<float> d_in) {
    check_softmax_back(p, grad, d_in);
    const std::int64_t N = p.extent(1);
    for (std::int64_t m = 0; m < p.extent(0); ++m) {
        for (std::int64_t i = 0; i < N; ++i) {
            float sum = 0;
            for (std::int64_t j = 0; j < N; ++j) {
                const float same = i == j ? 1.0f : 0.0f;
                sum += grad(m, j) * p(m, j) * (same - p(m, i));
            }
            d_in(m, i) = sum;
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
