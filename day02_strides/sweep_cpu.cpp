// The CPU references: in(m, k) is the element at offset m * stride(0) + k * stride(1), for any
// strides.
#include <cstdint>

#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {
namespace {

// [sum_columns]
void sum_columns_loop(View<const float> in, View<float> out) {
    const std::int64_t M = in.extent(0), K = in.extent(1);
    for (std::int64_t k = 0; k < K; ++k) {
        float sum = 0;
        for (std::int64_t m = 0; m < M; ++m) sum += in(m, k);
        out(k) = sum;
    }
}
// [sum_columns]

void ramp_loop(View<float> out) {
    const std::int64_t M = out.extent(0), K = out.extent(1);
    for (std::int64_t k = 0; k < K; ++k) {
        for (std::int64_t m = 0; m < M; ++m) {
            out(m, k) = static_cast<float>(m * K + k);
        }
    }
}

}  // namespace

void sum_columns_cpu(View<const float> in, View<float> out) {
    check_sum_columns(in, out);
    sum_columns_loop(in, out);
}

void ramp_cpu(View<float> out) {
    check_ramp(out);
    ramp_loop(out);
}

}  // namespace sixdays::day02_strides
