/// @file
/// Intrinsics that only other programs use: arithmetic with explicit rounding, SIMD on four bytes
/// or two 16-bit halves of a word, wide products.
#pragma once

#include "emulated/math.h"

#define __builtin_assume(condition) static_cast<void>(0)

namespace sixdays::emulator {
enum class RoundTo { nearest, zero, up, down };
enum class Arithmetic { add, sub, mul, div, fma, sqrt };
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;
/// One operation, rounded once in that direction (libraries/rounding.cpp).
float rounded(Arithmetic operation, RoundTo to, float a, float b, float c) noexcept;
double rounded(Arithmetic operation, RoundTo to, double a, double b, double c) noexcept;

template <class T, class Change>
__forceinline__ unsigned by_parts(unsigned a, unsigned b, Change change) {
    unsigned result = 0;
    constexpr unsigned kBits = 8 * sizeof(T);
    for (unsigned at = 0; at < 32; at += kBits) {
        const auto one = static_cast<std::make_unsigned_t<T>>(change(
            static_cast<int>(static_cast<T>(a >> at)), static_cast<int>(static_cast<T>(b >> at))));
        result |= static_cast<unsigned>(one) << at;
    }
    return result;
}
}  // namespace sixdays::emulator

// For float (l is f) and double (l is d).
#define SIXDAYS_ROUNDED(T, l, fused, suffix, to)                                                   \
    __forceinline__ T __##l##add_##suffix(T a, T b) {                                              \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::add, to, a, b, T{0});     \
    }                                                                                              \
    __forceinline__ T __##l##sub_##suffix(T a, T b) {                                              \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::sub, to, a, b, T{0});     \
    }                                                                                              \
    __forceinline__ T __##l##mul_##suffix(T a, T b) {                                              \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::mul, to, a, b, T{0});     \
    }                                                                                              \
    __forceinline__ T __##l##div_##suffix(T a, T b) {                                              \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::div, to, a, b, T{0});     \
    }                                                                                              \
    __forceinline__ T __##l##rcp_##suffix(T a) {                                                   \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::div, to, T{1}, a, T{0});  \
    }                                                                                              \
    __forceinline__ T __##l##sqrt_##suffix(T a) {                                                  \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::sqrt, to, a, T{0}, T{0}); \
    }                                                                                              \
    __forceinline__ T fused##_##suffix(T a, T b, T c) {                                            \
        return sixdays::emulator::rounded(sixdays::emulator::Arithmetic::fma, to, a, b, c);        \
    }
SIXDAYS_ROUNDED(float, f, __fmaf, rz, sixdays::emulator::RoundTo::zero)
SIXDAYS_ROUNDED(float, f, __fmaf, ru, sixdays::emulator::RoundTo::up)
SIXDAYS_ROUNDED(float, f, __fmaf, rd, sixdays::emulator::RoundTo::down)
SIXDAYS_ROUNDED(double, d, __fma, rn, sixdays::emulator::RoundTo::nearest)
SIXDAYS_ROUNDED(double, d, __fma, rz, sixdays::emulator::RoundTo::zero)
SIXDAYS_ROUNDED(double, d, __fma, ru, sixdays::emulator::RoundTo::up)
SIXDAYS_ROUNDED(double, d, __fma, rd, sixdays::emulator::RoundTo::down)
#undef SIXDAYS_ROUNDED

__forceinline__ float __frsqrt_rn(float x) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
__forceinline__ void __sincosf(float x, float* s, float* c) {
    *s = std::sin(x);
    *c = std::cos(x);
}
__forceinline__ float sinpif(float x) {
    return static_cast<float>(std::sin(3.14159265358979323846 * std::fmod(x, 2.0f)));
}
__forceinline__ float cospif(float x) {
    return static_cast<float>(std::cos(3.14159265358979323846 * std::fmod(x, 2.0f)));
}
__forceinline__ float rcbrtf(float x) {
    return 1 / std::cbrt(x);
}
__forceinline__ float normcdff(float x) {
    return static_cast<float>(0.5 * std::erfc(-x * 0.70710678118654752440));
}

// --- integers ---------------------------------------------------------------------------------
__forceinline__ int __mul24(int a, int b) {
    const auto low = [](int x) { return static_cast<std::int64_t>(x << 8) >> 8; };
    return static_cast<int>(static_cast<unsigned>(low(a) * low(b)));
}
__forceinline__ unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xffffff) * (b & 0xffffff);
}
__forceinline__ long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<sixdays::emulator::Wide>(a) * b >> 64);
}
__forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<sixdays::emulator::UnsignedWide>(a) * b >>
                                           64);
}
__forceinline__ unsigned __usad(unsigned a, unsigned b, unsigned c) {
    return (a > b ? a - b : b - a) + c;
}
__forceinline__ unsigned __sad(int a, int b, unsigned c) {
    return static_cast<unsigned>(a > b ? std::int64_t{a} - b : std::int64_t{b} - a) + c;
}
__forceinline__ int __hadd(int a, int b) {
    return static_cast<int>((std::int64_t{a} + b) >> 1);
}
__forceinline__ int __rhadd(int a, int b) {
    return static_cast<int>((std::int64_t{a} + b + 1) >> 1);
}
/// Dot product of four bytes, plus c.
__forceinline__ int __dp4a(int a, int b, int c) {
    unsigned sum = static_cast<unsigned>(c);
    for (int at = 0; at < 32; at += 8) {
        sum += static_cast<unsigned>(static_cast<signed char>(a >> at) *
                                     static_cast<signed char>(b >> at));
    }
    return static_cast<int>(sum);
}
__forceinline__ unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int at = 0; at < 32; at += 8) c += (a >> at & 255) * (b >> at & 255);
    return c;
}
// Signed (s) and unsigned SIMD on a 32-bit word: four bytes or two 16-bit parts.
#define SIXDAYS_PARTS(name, T, expression)                                                    \
    __forceinline__ unsigned name(unsigned x, unsigned y) {                                   \
        return sixdays::emulator::by_parts<T>(x, y, [](int a, int b) { return expression; }); \
    }
#define SIXDAYS_BOTH(name, expression)                \
    SIXDAYS_PARTS(name##4, unsigned char, expression) \
    SIXDAYS_PARTS(name##2, unsigned short, expression)
#define SIXDAYS_SIGNED(name, expression) \
    SIXDAYS_PARTS(name##4, signed char, expression) SIXDAYS_PARTS(name##2, short, expression)
SIXDAYS_BOTH(__vadd, a + b)
SIXDAYS_BOTH(__vsub, a - b)
SIXDAYS_BOTH(__vavgu, (a + b + 1) / 2)
SIXDAYS_BOTH(__vabsdiffu, a > b ? a - b : b - a)
SIXDAYS_BOTH(__vmaxu, a > b ? a : b)
SIXDAYS_BOTH(__vminu, a < b ? a : b)
SIXDAYS_SIGNED(__vmaxs, a > b ? a : b)
SIXDAYS_SIGNED(__vmins, a < b ? a : b)
SIXDAYS_BOTH(__vcmpeq, a == b ? -1 : 0)
SIXDAYS_BOTH(__vcmpne, a != b ? -1 : 0)
SIXDAYS_BOTH(__vcmpgtu, a > b ? -1 : 0)
SIXDAYS_SIGNED(__vcmpgts, a > b ? -1 : 0)
#undef SIXDAYS_PARTS
#undef SIXDAYS_BOTH
#undef SIXDAYS_SIGNED

__forceinline__ double __hiloint2double(int high, int low) {
    return sixdays::emulator::same_bits<double>(
        static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
__forceinline__ int __double2hiint(double x) {
    return static_cast<int>(sixdays::emulator::same_bits<std::uint64_t>(x) >> 32);
}
__forceinline__ int __double2loint(double x) {
    return static_cast<int>(sixdays::emulator::same_bits<std::uint64_t>(x));
}
