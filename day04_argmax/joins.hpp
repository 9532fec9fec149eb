/// @file
/// How two elements combine into one: shared by the CPU references, naive kernels and steps of all
/// reductions of this day.
#pragma once

#include <cmath>

#include "common/tensor/host_device.hpp"

namespace sixdays::day04_argmax {

// [beats]
/// Does x replace the largest element so far, which came before it? Not if they
/// are equal, and not if best is a NaN. If x is a NaN, x <= best is false, so
/// !(x <= best) is true: the first NaN wins and stays.
SIXDAYS_HD inline bool beats(float x, float best) noexcept {
    return best == best && !(x <= best);
}
// [beats]

/// The order of argmax and max: a larger element replaces the one so far, and the first NaN stays.
struct Largest {
    static constexpr float kStart = -INFINITY;  ///< the identity: of() returns the other operand
    /// Whether x replaces the largest element so far, which came before it: it is larger, or the
    /// first NaN.
    SIXDAYS_HD static bool beats(float x, float best) noexcept {
        return day04_argmax::beats(x, best);
    }
    /// The larger of two; a NaN if there is one.
    SIXDAYS_HD static float of(float a, float b) noexcept { return beats(b, a) ? b : a; }
};

/// The order of argmin and min: a smaller element replaces the one so far, and the first NaN stays.
struct Smallest {
    static constexpr float kStart = INFINITY;  ///< the identity: of() returns the other operand
    /// Whether x replaces the smallest element so far, which came before it: it is smaller, or the
    /// first NaN.
    SIXDAYS_HD static bool beats(float x, float best) noexcept {
        return best == best && !(x >= best);
    }
    /// The smaller of two; a NaN if there is one.
    SIXDAYS_HD static float of(float a, float b) noexcept { return beats(b, a) ? b : a; }
};

/// The sum of two elements.
struct Add {
    static constexpr float kStart = 0;  ///< the identity
    /// a + b
    SIXDAYS_HD static float of(float a, float b) noexcept { return a + b; }
};

/// The product of two elements.
struct Multiply {
    static constexpr float kStart = 1;  ///< the identity
    /// a * b
    SIXDAYS_HD static float of(float a, float b) noexcept { return a * b; }
};

}  // namespace sixdays::day04_argmax
