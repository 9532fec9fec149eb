/// @file
/// What NumPy says, as golden.py wrote it down.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::day04_argmax {

struct GoldenLine {
    std::vector<float> line;
    std::int64_t argmax, argmin;
};
struct GoldenReduction {
    Shape shape;
    Strides strides;
    std::int64_t first;
    int dim;
    std::vector<std::int64_t> argmax, argmin;
    std::vector<float> max, min, sum, mean;
};
#include "day04_argmax/tests/golden.inc"

}  // namespace sixdays::day04_argmax
