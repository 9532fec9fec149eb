/// @file
/// Softmax's golden values, made by golden_softmax.py.
#pragma once

#include <cstdint>
#include <vector>

namespace sixdays::day06_transformer_ops {

struct GoldenRow {
    std::vector<double> x, softmax, log_softmax;
};
struct GoldenLongRow {
    std::int64_t length;
    double largest, log_sum;
};
struct GoldenCausal {
    std::int64_t T, S;
    std::vector<double> out;
};
#include "day06_transformer_ops/softmax/tests/golden_softmax.inc"

}  // namespace sixdays::day06_transformer_ops
