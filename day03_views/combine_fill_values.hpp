/// @file
/// The value that loop and kernel of ramp() write.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/tensor/host_device.hpp"

namespace sixdays::day03_views {

/// start + k * step, in double by one fma, rounded to float at the end: the same on CPU and GPU.
SIXDAYS_HD inline float ramp_value(float start, float step, std::int64_t k) noexcept {
    return static_cast<float>(
        std::fma(static_cast<double>(k), static_cast<double>(step), static_cast<double>(start)));
}

}  // namespace sixdays::day03_views
