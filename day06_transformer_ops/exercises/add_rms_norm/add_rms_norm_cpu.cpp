#include <cmath>

#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"

namespace sixdays::day06_transformer_ops {

void add_rms_norm_cpu(View<const float> in, View<const float> weight, float eps,
                      View<float> residual, View<float> out) {
    check_add_rms_norm(in, weight, eps, residual, out);
    const std::int64_t M = in.extent(0), C = in.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        float squares = 0;
        for (std::int64_t c = 0; c < C; ++c) {
            residual(m, c) += in(m, c);
            squares += residual(m, c) * residual(m, c);
        }
        const float scale = 1 / std::sqrt(squares / static_cast<float>(C) + eps);
        for (std::int64_t c = 0; c < C; ++c) {
            out(m, c) = residual(m, c) * scale * weight(c);
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
