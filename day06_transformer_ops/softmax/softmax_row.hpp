/// @file
/// What softmax and its variants compute from the first n elements of a row.
#pragma once

#include <cmath>

#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The largest of the first n elements of a row. A NaN may be ignored here: exp(NaN - m) carries it into the sum.
template <class T>
SIXDAYS_HD inline float largest_of(const Row<const T>& x, std::int64_t n) {
    float largest = -INFINITY;
    for (std::int64_t i = 0; i < n; ++i) {
        largest = std::fmax(largest, float(x[i]));
    }
    return largest;
}

/// The sum of exp(x(i) - m) over the first n elements of a row.
template <class T>
SIXDAYS_HD inline float sum_of_exp(const Row<const T>& x, std::int64_t n, float m) {
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        sum += std::exp(float(x[i]) - m);
    }
    return sum;
}

/// The number of S elements that token t of T sees.
SIXDAYS_HD inline std::int64_t seen_by(std::int64_t t, std::int64_t T, std::int64_t S) noexcept {
    return t + 1 + S - T;
}

}  // namespace sixdays::day06_transformer_ops
