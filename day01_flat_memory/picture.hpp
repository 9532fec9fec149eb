/// @file
/// A picture: a 2-D grid with one thread per pixel, and an offset with x on the fast axis.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

/// A Julia set: take a point z of the complex plane and repeat z <- z * z + c. The number of steps
/// until |z| exceeds 2 is the point's colour.
struct Julia {
    float c_re = -0.8f,   ///< real part of c
        c_im = 0.156f;    ///< imaginary part
    float height = 2.4f;  ///< of the visible part of the plane
    float centre_re = 0,  ///< its center, real part
        centre_im = 0;    ///< imaginary part
};

/// The most steps of a pixel; none ever has the value 255.
inline constexpr int kMostSteps = 254;  // no pixel ever has the value 255

/// Steps, at most 254, until |z| exceeds 2, for the pixel in column x, row y of W x H. Loop and
/// kernel both call this function. Every product and sum is an explicit fma, rounded once on the
/// CPU and on the GPU, so the two pictures are equal in every pixel.
SIXDAYS_HD inline std::uint8_t julia_steps(const Julia& julia, std::int64_t x, std::int64_t y,
                                           std::int64_t W, std::int64_t H) noexcept {
    const float half_pixel = julia.height / static_cast<float>(2 * H);
    // The pixel's centre. y counts downwards.
    float re = std::fma(static_cast<float>(2 * x + 1 - W), half_pixel, julia.centre_re);
    float im = std::fma(static_cast<float>(H - 2 * y - 1), half_pixel, julia.centre_im);
    int steps = 0;
    while (steps < kMostSteps && std::fma(re, re, im * im) <= 4.0f) {
        const float next = std::fma(re, re, std::fma(-im, im, julia.c_re));
        im = std::fma(2.0f * re, im, julia.c_im);
        re = next;
        ++steps;
    }
    return static_cast<std::uint8_t>(steps);
}

/// A pixel of a PNG: few points take many steps, and a square root brightens the dark end.
inline std::uint8_t brightness(std::uint8_t steps) {
    return static_cast<std::uint8_t>(255 * std::sqrt(steps / double{kMostSteps}));
}

/// The Julia set as steps per pixel: out(y, x) = julia_steps(julia, x, y, W, H).
/// @param out  (H, W), row y and column x, contiguous, H at most kMostRows; 0 to 254 steps in each
/// @throws std::invalid_argument  a rank other than 2, too many rows, gaps, a null pointer
void picture_cpu(const Julia& julia, View<std::uint8_t> out);
void picture_cuda(const Julia& julia, View<std::uint8_t> out, gpu::Stream stream = {});
void check_picture(const View<std::uint8_t>& out);

}  // namespace sixdays::day01_flat_memory
