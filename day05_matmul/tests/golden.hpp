/// @file
/// Products computed by NumPy; written by golden.py.
#pragma once

#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::day05_matmul {

/// a holds 1, 2, 3, ... and b 3, 6, 9, ..., of these shapes, and may be transposed before.
struct GoldenProduct {
    Shape a, b, out;
    bool a_transposed, b_transposed;
    std::vector<float> values;
};
#include "day05_matmul/tests/golden.inc"

}  // namespace sixdays::day05_matmul
