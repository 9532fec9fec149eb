/// @file
/// __half and __half2: 5 exponent bits, 10 fraction bits (IEEE binary16).
#pragma once

#include "cuda_runtime.h"
#include "emulated/small_float.h"
#include "emulated/to_whole.h"

using __half = SixdaysFloat<5>;
using __half2 = SixdaysPair<5>;
using half = __half;
using half2 = __half2;

SIXDAYS_SMALL_FLOAT(__half, __half2, half, half2, 5)

// Conversions to integers, via float, which represents every half.
#define SIXDAYS_FROM_HALF(To, to)                                                              \
    SIXDAYS_INLINE To __half2##to##_rn(__half x) {                                             \
        return sixdays::emulator::to_whole<To>(std::nearbyint(static_cast<float>(x.value()))); \
    }                                                                                          \
    SIXDAYS_INLINE To __half2##to##_rz(__half x) {                                             \
        return sixdays::emulator::to_whole<To>(std::trunc(static_cast<float>(x.value())));     \
    }                                                                                          \
    SIXDAYS_INLINE To __half2##to##_rd(__half x) {                                             \
        return sixdays::emulator::to_whole<To>(std::floor(static_cast<float>(x.value())));     \
    }                                                                                          \
    SIXDAYS_INLINE To __half2##to##_ru(__half x) {                                             \
        return sixdays::emulator::to_whole<To>(std::ceil(static_cast<float>(x.value())));      \
    }
SIXDAYS_FROM_HALF(int, int)
SIXDAYS_FROM_HALF(unsigned, uint)
SIXDAYS_FROM_HALF(short, short)
SIXDAYS_FROM_HALF(unsigned short, ushort)
SIXDAYS_FROM_HALF(long long, ll)
SIXDAYS_FROM_HALF(unsigned long long, ull)
#undef SIXDAYS_FROM_HALF
