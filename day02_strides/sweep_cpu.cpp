// The plain loops: in(j, t) is the element at offset j * stride(0) + t * stride(1), whatever those
// are.
#include "day02_strides/sweep.hpp"

#include <cstdint>

#include "common/tensor/arguments.hpp"

namespace sixdays::day02_strides {

// --- loops ---------------------------------------------------------------------------------------
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

// --- what loop and port refuse, in the same words ------------------------------------------------

void check_sum_columns(const View<const float>& in, const View<float>& out) {
    const char* const op = "sum_columns";
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 1);
    if (out.extent(0) != in.extent(1)) {
        refuse("sum_columns: out has " + std::to_string(out.extent(0)) + " elements, but in has " +
               std::to_string(in.extent(1)) + " columns");
    }
    require_contiguous(op, "out", out);
    require_memory(op, "out", out);
    require_memory(op, "in", in);
    if (overlap(in, out)) refuse("sum_columns: in and out overlap");
}

void check_ramp(const View<float>& out) {
    require_rank("ramp", "out", out, 2);
    require_injective("ramp", "out", out);
    require_memory("ramp", "out", out);
}

}  // namespace sixdays::day02_strides
