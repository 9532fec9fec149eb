/// @file
/// 8-bit floating-point types: e4m3 (maximum 448, no infinity) and e5m2 (maximum 57,344).
/// Conversion from float rounds to nearest, ties to even, and saturates.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace sixdays::emulator {

/// The value of a nonnegative code: EXPONENT exponent bits, the rest fraction.
template <int EXPONENT>
SIXDAYS_INLINE float fp8_value(unsigned code) {
    constexpr int kFraction = 7 - EXPONENT, kBias = (1 << (EXPONENT - 1)) - 1;
    const int exponent = static_cast<int>(code >> kFraction);
    const float fraction = static_cast<float>(code & ((1u << kFraction) - 1)) / (1 << kFraction);
    return exponent == 0 ? std::ldexp(fraction, 1 - kBias)
                         : std::ldexp(1 + fraction, exponent - kBias);
}
template <int EXPONENT>
SIXDAYS_INLINE std::uint8_t fp8_code(float x) {
    constexpr unsigned kLargest = EXPONENT == 4 ? 0x7e : 0x7b;
    const unsigned sign = std::signbit(x) ? 0x80 : 0;
    if (x != x) return 0x7f;
    unsigned low = 0, high = kLargest;  // the value increases with the code
    const float magnitude = std::fabs(x);
    while (low < high) {
        const unsigned middle = (low + high + 1) / 2;
        if (fp8_value<EXPONENT>(middle) <= magnitude) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    if (low < kLargest) {
        const float below = magnitude - fp8_value<EXPONENT>(low);
        const float above = fp8_value<EXPONENT>(low + 1) - magnitude;
        low += below > above || (below == above && low % 2 != 0);
    }
    return static_cast<std::uint8_t>(low | sign);
}

template <int EXPONENT>
struct Float8 {
    std::uint8_t __x;

    Float8() = default;
    SIXDAYS_INLINE explicit Float8(float x) : __x(fp8_code<EXPONENT>(x)) {}
    SIXDAYS_INLINE explicit Float8(double x) : Float8(static_cast<float>(x)) {}
    SIXDAYS_INLINE explicit Float8(__half x) : Float8(static_cast<float>(x)) {}
    SIXDAYS_INLINE explicit Float8(__nv_bfloat16 x) : Float8(static_cast<float>(x)) {}
    SIXDAYS_INLINE operator float() const {
        const unsigned code = __x & 0x7f;
        if (code == 0x7f || (EXPONENT == 5 && code > 0x7c)) return __builtin_nanf("");
        if (EXPONENT == 5 && code == 0x7c) return __x > 0x7f ? -__builtin_inff() : __builtin_inff();
        return __x > 0x7f ? -fp8_value<EXPONENT>(code) : fp8_value<EXPONENT>(code);
    }
};

}  // namespace sixdays::emulator

using __nv_fp8_e4m3 = sixdays::emulator::Float8<4>;
using __nv_fp8_e5m2 = sixdays::emulator::Float8<5>;
using __nv_fp8_storage_t = std::uint8_t;
