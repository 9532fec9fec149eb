/// @file
/// Results of NumPy, written by golden.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "common/tensor/tensor.hpp"

namespace sixdays::day04_argmax {

struct GoldenLine {
    std::initializer_list<float> line;
    std::int64_t argmax, argmin;
};
struct GoldenReduction {
    Shape shape;
    Strides strides;
    std::int64_t first;
    int dim;
    std::initializer_list<std::int64_t> argmax, argmin;
    std::initializer_list<float> max, min, sum, mean;
};
#include "day04_argmax/tests/golden.inc"

/// The tensor of which the golden inputs are views.
inline Tensor<float> golden_numbers() {
    Tensor<float> base({120});
    for (std::int64_t k = 0; k < 120; ++k) base(k) = static_cast<float>((k * 37 + 11) % 29);
    return base;
}

}  // namespace sixdays::day04_argmax
