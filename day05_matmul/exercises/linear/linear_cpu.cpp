#include "day05_matmul/exercises/linear/linear.hpp"

namespace sixdays::day05_matmul {

void linear_cpu(View<const float> x, View<const float> w, View<const float> bias, View<float> out) {
    check_linear(x, w, bias, out);
    const std::int64_t T = out.extent(0), OC = out.extent(1), C = x.extent(1);
    for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t oc = 0; oc < OC; ++oc) {
            float sum = bias(oc);
            for (std::int64_t c = 0; c < C; ++c) {
                sum += x(t, c) * w(oc, c);
            }
            out(t, oc) = sum;
        }
    }
}

}  // namespace sixdays::day05_matmul
