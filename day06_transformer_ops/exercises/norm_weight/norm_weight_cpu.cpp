#include "day06_transformer_ops/exercises/norm_weight/norm_weight.hpp"

namespace sixdays::day06_transformer_ops {

void norm_weight_cpu(View<const float> in, View<const float> rows, View<const float> grad,
                     View<float> d_weight) {
    check_norm_weight(in, rows, grad, d_weight);
    for (std::int64_t m = 0; m < in.extent(0); ++m) {
        const float mean = rows(m, 0), scale = rows(m, 1);
        for (std::int64_t c = 0; c < in.extent(1); ++c) {
            d_weight(c) += grad(m, c) * (in(m, c) - mean) * scale;
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
