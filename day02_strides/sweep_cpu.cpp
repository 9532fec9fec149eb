// The plain loops: in(j, t) is the element at offset j * stride(0) + t * stride(1), whatever those
// are.
#include <cstdint>

#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {
namespace {

// [sum_columns]
void sum_columns_loop(View<const float> in, View<float> out) {
    const std::int64_t J = in.extent(0), T = in.extent(1);
    for (std::int64_t t = 0; t < T; ++t) {
        float sum = 0;
        for (std::int64_t j = 0; j < J; ++j) sum += in(j, t);
        out(t) = sum;
    }
}
// [sum_columns]

// [ramp]
void ramp_loop(View<float> out) {
    const std::int64_t J = out.extent(0), T = out.extent(1);
    for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t j = 0; j < J; ++j) {
            out(j, t) = static_cast<float>(j * T + t);
        }
    }
}
// [ramp]

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
