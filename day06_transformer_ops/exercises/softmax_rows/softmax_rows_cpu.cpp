#include <cmath>

#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"

namespace sixdays::day06_transformer_ops {

void softmax_rows_cpu(View<const float> in, View<float> out) {
    check_softmax_rows(in, out);
    const std::int64_t N = in.extent(1);
    for (std::int64_t m = 0; m < in.extent(0); ++m) {
        float largest = -INFINITY;
        for (std::int64_t n = 0; n < N; ++n) {
            largest = std::fmax(largest, in(m, n));
        }
        float sum = 0;
        for (std::int64_t n = 0; n < N; ++n) {
            sum += std::exp(in(m, n) - largest);
        }
        for (std::int64_t n = 0; n < N; ++n) {
            out(m, n) = std::exp(in(m, n) - largest) / sum;
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
