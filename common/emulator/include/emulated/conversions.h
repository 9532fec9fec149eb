/// @file
/// Conversions between integers and floating-point types, with the rounding mode in the name (CUDA
/// Math API, "Type Casting Intrinsics").
#pragma once

#include "emulated/more_math.h"
#include "emulated/to_whole.h"

namespace sixdays::emulator {

/// Rounded once, in that direction (libraries/rounding.cpp). T is long long, unsigned long long or,
/// for conversion to float, double.
template <class T>
float rounded_to_float(RoundTo to, T x) noexcept;
template <class T>
double rounded_to_double(RoundTo to, T x) noexcept;

}  // namespace sixdays::emulator

#define SIXDAYS_TO_WHOLE(From, from, To, to)                          \
    __forceinline__ To __##from##2##to##_rn(From x) {                 \
        return sixdays::emulator::to_whole<To, From>(::nearbyint(x)); \
    }                                                                 \
    __forceinline__ To __##from##2##to##_rz(From x) {                 \
        return sixdays::emulator::to_whole<To, From>(::trunc(x));     \
    }                                                                 \
    __forceinline__ To __##from##2##to##_rd(From x) {                 \
        return sixdays::emulator::to_whole<To, From>(::floor(x));     \
    }                                                                 \
    __forceinline__ To __##from##2##to##_ru(From x) {                 \
        return sixdays::emulator::to_whole<To, From>(::ceil(x));      \
    }
SIXDAYS_TO_WHOLE(float, float, int, int)
SIXDAYS_TO_WHOLE(float, float, unsigned, uint)
SIXDAYS_TO_WHOLE(float, float, long long, ll)
SIXDAYS_TO_WHOLE(float, float, unsigned long long, ull)
SIXDAYS_TO_WHOLE(double, double, int, int)
SIXDAYS_TO_WHOLE(double, double, unsigned, uint)
SIXDAYS_TO_WHOLE(double, double, long long, ll)
SIXDAYS_TO_WHOLE(double, double, unsigned long long, ull)
#undef SIXDAYS_TO_WHOLE

// Wide: a type instantiated in rounding.cpp that can hold every From.
#define SIXDAYS_TO_FLOATING(From, from, Wide, To)                                             \
    __forceinline__ To __##from##2##To##_rn(From x) {                                         \
        return static_cast<To>(x);                                                            \
    }                                                                                         \
    __forceinline__ To __##from##2##To##_rz(From x) {                                         \
        return sixdays::emulator::rounded_to_##To<Wide>(sixdays::emulator::RoundTo::zero, x); \
    }                                                                                         \
    __forceinline__ To __##from##2##To##_rd(From x) {                                         \
        return sixdays::emulator::rounded_to_##To<Wide>(sixdays::emulator::RoundTo::down, x); \
    }                                                                                         \
    __forceinline__ To __##from##2##To##_ru(From x) {                                         \
        return sixdays::emulator::rounded_to_##To<Wide>(sixdays::emulator::RoundTo::up, x);   \
    }
SIXDAYS_TO_FLOATING(int, int, long long, float)
SIXDAYS_TO_FLOATING(unsigned, uint, long long, float)
SIXDAYS_TO_FLOATING(long long, ll, long long, float)
SIXDAYS_TO_FLOATING(unsigned long long, ull, unsigned long long, float)
SIXDAYS_TO_FLOATING(double, double, double, float)
SIXDAYS_TO_FLOATING(long long, ll, long long, double)
SIXDAYS_TO_FLOATING(unsigned long long, ull, unsigned long long, double)
#undef SIXDAYS_TO_FLOATING
__forceinline__ double __int2double_rn(int x) {
    return x;
}
__forceinline__ double __uint2double_rn(unsigned x) {
    return x;
}
