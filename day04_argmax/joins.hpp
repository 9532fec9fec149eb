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

/// The order of argmax and max.
struct Largest {
    static constexpr float kStart = -INFINITY;  // the identity: of() returns the other operand
    SIXDAYS_HD static bool beats(float x, float best) noexcept {
        return day04_argmax::beats(x, best);
    }
    SIXDAYS_HD static float of(float a, float b) noexcept { return beats(b, a) ? b : a; }
};

/// The order of argmin and min.
struct Smallest {
    static constexpr float kStart = INFINITY;
    SIXDAYS_HD static bool beats(float x, float best) noexcept {
        return best == best && !(x >= best);
    }
    SIXDAYS_HD static float of(float a, float b) noexcept { return beats(b, a) ? b : a; }
};

struct Add {
    static constexpr float kStart = 0;
    SIXDAYS_HD static float of(float a, float b) noexcept { return a + b; }
};

struct Multiply {
    static constexpr float kStart = 1;
    SIXDAYS_HD static float of(float a, float b) noexcept { return a * b; }
};

}  // namespace sixdays::day04_argmax
