/// @file
/// 16-bit floating-point types and pairs of them, shared by cuda_fp16.h and cuda_bf16.h. Results
/// equal a GPU's bit for bit (tests/beside_gpu/small_float_h200.csv): each operation is exact, then
/// rounded once, to nearest, ties to even. A computed NaN is 0x7fff.
///
/// nvcc may contract a * b + c to a single rounding unless __hmul_rn is used; here there are always
/// two, except in __hfma.
#pragma once

#include <cmath>
#include <cstdint>

#include "emulated/atomics.h"

#define SIXDAYS_INLINE [[gnu::always_inline]] inline

namespace sixdays::emulator {

enum class Rounding { nearest, to_zero, up, down };

/// x as a 16-bit float with EXPONENT exponent bits.
template <int EXPONENT>
SIXDAYS_INLINE std::uint16_t small_bits(double x, Rounding how = Rounding::nearest) {
    constexpr int kFraction = 15 - EXPONENT;
    constexpr int kBias = (1 << (EXPONENT - 1)) - 1;
    constexpr std::uint64_t kInfinity = ((1 << EXPONENT) - 1) << kFraction;
    if (x != x) return 0x7fff;
    const auto all = __builtin_bit_cast(std::uint64_t, x);
    const bool negative = all >> 63 != 0;
    const int exponent = static_cast<int>(all >> 52 & 0x7ff) - 1023;
    const std::uint64_t fraction = (all & ~(~std::uint64_t{0} << 52)) | std::uint64_t{1} << 52;
    // Subnormals: below the smallest exponent the last place stays the same, and there is no
    // implicit leading bit.
    const int least = exponent < 1 - kBias ? 1 - kBias : exponent;
    const int shift = 52 - kFraction + least - exponent;
    const std::uint64_t whole = shift > 62 ? 0 : fraction >> shift;
    const std::uint64_t rest = shift > 62 ? x != 0 : fraction & ~(~std::uint64_t{0} << shift);
    const std::uint64_t half = shift > 62 ? 2 : std::uint64_t{1} << (shift - 1);
    const bool outwards = how == (negative ? Rounding::down : Rounding::up);
    const bool away = how == Rounding::nearest ? rest > half || (rest == half && whole % 2 != 0)
                                               : outwards && rest != 0;
    // Bit patterns of consecutive numbers are consecutive, even across binades.
    std::uint64_t bits =
        whole + (static_cast<std::uint64_t>(least + kBias - 1) << kFraction) + away;
    if (bits > kInfinity || (bits == kInfinity && !away)) {  // overflow
        const bool stays = exponent < 1024 && how != Rounding::nearest && !outwards;
        bits = kInfinity - stays;
    }
    return static_cast<std::uint16_t>(bits | (negative ? 0x8000 : 0));
}

/// Exact. A NaN with 5 exponent bits becomes the NaN that a GPU returns.
template <int EXPONENT>
SIXDAYS_INLINE float small_value(std::uint16_t bits) {
    if constexpr (EXPONENT == 8) return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
    const std::uint32_t magnitude = bits & 0x7fff;
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    if (magnitude > 0x7c00) return __builtin_bit_cast(float, 0x7fffffffu);
    if (magnitude == 0x7c00) return __builtin_bit_cast(float, sign | 0x7f800000u);
    // The exponent bias is 15 here and 127 in a float; subnormals are multiples of 2^-24.
    const float value = magnitude < 0x0400
                            ? static_cast<float>(magnitude) * 0x1p-24f
                            : __builtin_bit_cast(float, (magnitude << 13) + ((127u - 15u) << 23));
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, value) | sign);
}

/// a * b + c, rounded to odd, so that further rounding gives the same result as rounding the exact
/// value. a * b must be exact, as it is for 16-bit factors.
SIXDAYS_INLINE double sum_to_odd(double product, double c) {
    const double sum = product + c;
    const double from_product = sum - c;
    const double error = (product - from_product) + (c - (sum - from_product));
    auto bits = __builtin_bit_cast(std::uint64_t, sum);
    if (!std::isfinite(sum) || error == 0 || (bits & 1) != 0) return sum;
    bits += (error > 0) == (sum > 0) ? 1u : ~std::uint64_t{0};
    return __builtin_bit_cast(double, bits);
}

}  // namespace sixdays::emulator

/// A 16-bit float. The functions are friends, found by argument-dependent lookup.
template <int EXPONENT>
struct SixdaysFloat {
    std::uint16_t bits;

    SixdaysFloat() = default;
    SIXDAYS_INLINE SixdaysFloat(float x) : bits(sixdays::emulator::small_bits<EXPONENT>(x)) {}
    SIXDAYS_INLINE SixdaysFloat(double x) : bits(sixdays::emulator::small_bits<EXPONENT>(x)) {}
    SIXDAYS_INLINE SixdaysFloat(int x) : SixdaysFloat(static_cast<double>(x)) {}
    SIXDAYS_INLINE SixdaysFloat(unsigned x) : SixdaysFloat(static_cast<double>(x)) {}
    SIXDAYS_INLINE operator float() const { return sixdays::emulator::small_value<EXPONENT>(bits); }

    SIXDAYS_INLINE static SixdaysFloat from_bits(std::uint16_t b) {
        SixdaysFloat x;
        x.bits = b;
        return x;
    }

    using F = SixdaysFloat;
    SIXDAYS_INLINE double value() const { return static_cast<float>(*this); }

    // --- arithmetic -----------------------------------------------------------------------------
    SIXDAYS_INLINE friend F __hadd(F a, F b) { return a.value() + b.value(); }
    SIXDAYS_INLINE friend F __hsub(F a, F b) { return a.value() - b.value(); }
    SIXDAYS_INLINE friend F __hmul(F a, F b) { return a.value() * b.value(); }
    SIXDAYS_INLINE friend F __hdiv(F a, F b) { return a.value() / b.value(); }
    SIXDAYS_INLINE friend F __hadd_rn(F a, F b) { return __hadd(a, b); }
    SIXDAYS_INLINE friend F __hsub_rn(F a, F b) { return __hsub(a, b); }
    SIXDAYS_INLINE friend F __hmul_rn(F a, F b) { return __hmul(a, b); }
    SIXDAYS_INLINE friend F __hfma(F a, F b, F c) {
        return sixdays::emulator::sum_to_odd(a.value() * b.value(), c.value());
    }
    SIXDAYS_INLINE friend F __hneg(F a) {
        if (__hisnan(a)) return from_bits(0x7fff);
        return from_bits(static_cast<std::uint16_t>(a.bits ^ 0x8000));
    }
    SIXDAYS_INLINE friend F __habs(F a) {
        if (__hisnan(a)) return from_bits(0x7fff);
        return from_bits(static_cast<std::uint16_t>(a.bits & 0x7fff));
    }
    SIXDAYS_INLINE friend F operator+(F a, F b) { return __hadd(a, b); }
    SIXDAYS_INLINE friend F operator-(F a, F b) { return __hsub(a, b); }
    SIXDAYS_INLINE friend F operator*(F a, F b) { return __hmul(a, b); }
    SIXDAYS_INLINE friend F operator/(F a, F b) { return __hdiv(a, b); }
    SIXDAYS_INLINE friend F operator-(F a) { return __hneg(a); }
    SIXDAYS_INLINE friend F operator+(F a) { return a; }
    SIXDAYS_INLINE friend F& operator+=(F& a, F b) { return a = a + b; }
    SIXDAYS_INLINE friend F& operator-=(F& a, F b) { return a = a - b; }
    SIXDAYS_INLINE friend F& operator*=(F& a, F b) { return a = a * b; }
    SIXDAYS_INLINE friend F& operator/=(F& a, F b) { return a = a / b; }

    // --- comparison: false with NaN, except "not equal" -----------------------------------------
    SIXDAYS_INLINE friend bool __heq(F a, F b) { return a.value() == b.value(); }
    SIXDAYS_INLINE friend bool __hne(F a, F b) {
        return a.value() < b.value() || b.value() < a.value();
    }
    SIXDAYS_INLINE friend bool __hlt(F a, F b) { return a.value() < b.value(); }
    SIXDAYS_INLINE friend bool __hle(F a, F b) { return a.value() <= b.value(); }
    SIXDAYS_INLINE friend bool __hgt(F a, F b) { return a.value() > b.value(); }
    SIXDAYS_INLINE friend bool __hge(F a, F b) { return a.value() >= b.value(); }
    SIXDAYS_INLINE friend bool __hisnan(F a) { return a.value() != a.value(); }
    SIXDAYS_INLINE friend int __hisinf(F a) {
        return !std::isinf(a.value()) ? 0 : a.value() > 0 ? 1 : -1;
    }
    SIXDAYS_INLINE friend bool operator==(F a, F b) { return __heq(a, b); }
    SIXDAYS_INLINE friend bool operator!=(F a, F b) { return !__heq(a, b); }
    SIXDAYS_INLINE friend bool operator<(F a, F b) { return __hlt(a, b); }
    SIXDAYS_INLINE friend bool operator<=(F a, F b) { return __hle(a, b); }
    SIXDAYS_INLINE friend bool operator>(F a, F b) { return __hgt(a, b); }
    SIXDAYS_INLINE friend bool operator>=(F a, F b) { return __hge(a, b); }
    /// If one is NaN, returns the other; -0 is less than 0.
    SIXDAYS_INLINE friend F __hmax(F a, F b) {
        if (__hisnan(a)) return __hisnan(b) ? from_bits(0x7fff) : b;
        if (__hisnan(b) || a.value() > b.value()) return a;
        return a.value() == b.value() && std::signbit(b.value()) ? a : b;
    }
    SIXDAYS_INLINE friend F __hmin(F a, F b) {
        if (__hisnan(a) || __hisnan(b)) return __hmax(a, b);
        return __hneg(__hmax(__hneg(a), __hneg(b)));
    }
    SIXDAYS_INLINE friend F __hmax_nan(F a, F b) {
        return __hisnan(a) || __hisnan(b) ? from_bits(0x7fff) : __hmax(a, b);
    }
    SIXDAYS_INLINE friend F __hmin_nan(F a, F b) {
        return __hisnan(a) || __hisnan(b) ? from_bits(0x7fff) : __hmin(a, b);
    }

    // --- functions: exact here; on a GPU approximate, except the square root --------------------
    SIXDAYS_INLINE friend F hsqrt(F a) { return std::sqrt(a.value()); }
    SIXDAYS_INLINE friend F hrsqrt(F a) { return 1 / std::sqrt(a.value()); }
    SIXDAYS_INLINE friend F hrcp(F a) { return 1 / a.value(); }
    SIXDAYS_INLINE friend F hexp(F a) { return std::exp(a.value()); }
    SIXDAYS_INLINE friend F hexp2(F a) { return std::exp2(a.value()); }
    SIXDAYS_INLINE friend F hlog(F a) { return std::log(a.value()); }
    SIXDAYS_INLINE friend F hlog2(F a) { return std::log2(a.value()); }

    SIXDAYS_INLINE friend F atomicAdd(F* address, F b) {
        return from_bits(sixdays::emulator::atomic_change(
            reinterpret_cast<unsigned short*>(address), b.bits,
            [](unsigned short old, unsigned short more) {
                return __hadd(from_bits(old), from_bits(more)).bits;
            }));
    }
};

/// A pair in 4 bytes, x in the lower half.
template <int EXPONENT>
struct alignas(4) SixdaysPair {
    using F = SixdaysFloat<EXPONENT>;
    using P = SixdaysPair;
    F x, y;

    SixdaysPair() = default;
    SIXDAYS_INLINE SixdaysPair(F low, F high) : x(low), y(high) {}

    SIXDAYS_INLINE friend P __hadd2(P a, P b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
    SIXDAYS_INLINE friend P __hsub2(P a, P b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
    SIXDAYS_INLINE friend P __hmul2(P a, P b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
    SIXDAYS_INLINE friend P __h2div(P a, P b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
    SIXDAYS_INLINE friend P __hadd2_rn(P a, P b) { return __hadd2(a, b); }
    SIXDAYS_INLINE friend P __hsub2_rn(P a, P b) { return __hsub2(a, b); }
    SIXDAYS_INLINE friend P __hmul2_rn(P a, P b) { return __hmul2(a, b); }
    SIXDAYS_INLINE friend P __hfma2(P a, P b, P c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    SIXDAYS_INLINE friend P __hneg2(P a) { return {__hneg(a.x), __hneg(a.y)}; }
    SIXDAYS_INLINE friend P __habs2(P a) { return {__habs(a.x), __habs(a.y)}; }
    SIXDAYS_INLINE friend P __hmax2(P a, P b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
    SIXDAYS_INLINE friend P __hmin2(P a, P b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
    SIXDAYS_INLINE friend P operator+(P a, P b) { return __hadd2(a, b); }
    SIXDAYS_INLINE friend P operator-(P a, P b) { return __hsub2(a, b); }
    SIXDAYS_INLINE friend P operator*(P a, P b) { return __hmul2(a, b); }
    SIXDAYS_INLINE friend P operator/(P a, P b) { return __h2div(a, b); }
    SIXDAYS_INLINE friend P operator-(P a) { return __hneg2(a); }
    SIXDAYS_INLINE friend P& operator+=(P& a, P b) { return a = a + b; }
    SIXDAYS_INLINE friend P& operator-=(P& a, P b) { return a = a - b; }
    SIXDAYS_INLINE friend P& operator*=(P& a, P b) { return a = a * b; }
    SIXDAYS_INLINE friend P& operator/=(P& a, P b) { return a = a / b; }
    SIXDAYS_INLINE friend bool __hbeq2(P a, P b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
    SIXDAYS_INLINE friend bool operator==(P a, P b) { return __hbeq2(a, b); }

    SIXDAYS_INLINE friend float __low2float(P a) { return a.x; }
    SIXDAYS_INLINE friend float __high2float(P a) { return a.y; }
    SIXDAYS_INLINE friend P __lowhigh2highlow(P a) { return {a.y, a.x}; }

    /// Each half is added separately: a GPU does not guarantee that the pair is updated atomically.
    SIXDAYS_INLINE friend P atomicAdd(P* address, P b) {
        return __builtin_bit_cast(
            P, sixdays::emulator::atomic_change(
                   reinterpret_cast<unsigned*>(address), __builtin_bit_cast(unsigned, b),
                   [](unsigned old, unsigned more) {
                       return __builtin_bit_cast(unsigned, __hadd2(__builtin_bit_cast(P, old),
                                                                   __builtin_bit_cast(P, more)));
                   }));
    }
};

// Conversions named after the type, `half` or `bfloat16`, as in CUDA.
#define SIXDAYS_SMALL_FLOAT(T, T2, half, half2, tag)                                      \
    SIXDAYS_INLINE T __float2##half(float x) {                                            \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE T __float2##half##_rn(float x) {                                       \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE T __float2##half##_rz(float x) {                                       \
        return T::from_bits(                                                              \
            sixdays::emulator::small_bits<tag>(x, sixdays::emulator::Rounding::to_zero)); \
    }                                                                                     \
    SIXDAYS_INLINE T __float2##half##_rd(float x) {                                       \
        return T::from_bits(                                                              \
            sixdays::emulator::small_bits<tag>(x, sixdays::emulator::Rounding::down));    \
    }                                                                                     \
    SIXDAYS_INLINE T __float2##half##_ru(float x) {                                       \
        return T::from_bits(                                                              \
            sixdays::emulator::small_bits<tag>(x, sixdays::emulator::Rounding::up));      \
    }                                                                                     \
    SIXDAYS_INLINE T __double2##half(double x) {                                          \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE float __##half##2float(T x) {                                          \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE T __int2##half##_rn(int x) {                                           \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE T __uint2##half##_rn(unsigned x) {                                     \
        return x;                                                                         \
    }                                                                                     \
    SIXDAYS_INLINE unsigned short __##half##_as_ushort(T x) {                             \
        return x.bits;                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE short __##half##_as_short(T x) {                                       \
        return static_cast<short>(x.bits);                                                \
    }                                                                                     \
    SIXDAYS_INLINE T __ushort_as_##half(unsigned short x) {                               \
        return T::from_bits(x);                                                           \
    }                                                                                     \
    SIXDAYS_INLINE T __short_as_##half(short x) {                                         \
        return T::from_bits(static_cast<unsigned short>(x));                              \
    }                                                                                     \
    SIXDAYS_INLINE T2 __float2##half2##_rn(float x) {                                     \
        return {x, x};                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE T2 __floats2##half2##_rn(float x, float y) {                           \
        return {x, y};                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE T2 __float22##half2##_rn(float2 x) {                                   \
        return {x.x, x.y};                                                                \
    }                                                                                     \
    SIXDAYS_INLINE float2 __##half2##2float2(T2 x) {                                      \
        return {x.x, x.y};                                                                \
    }                                                                                     \
    SIXDAYS_INLINE T2 __##half##2##half2(T x) {                                           \
        return {x, x};                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE T2 __halves2##half2(T x, T y) {                                        \
        return {x, y};                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE T2 make_##half2(T x, T y) {                                            \
        return {x, y};                                                                    \
    }                                                                                     \
    SIXDAYS_INLINE T __low2##half(T2 x) {                                                 \
        return x.x;                                                                       \
    }                                                                                     \
    SIXDAYS_INLINE T __high2##half(T2 x) {                                                \
        return x.y;                                                                       \
    }                                                                                     \
    SIXDAYS_INLINE T2 __low2##half2(T2 x) {                                               \
        return {x.x, x.x};                                                                \
    }                                                                                     \
    SIXDAYS_INLINE T2 __high2##half2(T2 x) {                                              \
        return {x.y, x.y};                                                                \
    }                                                                                     \
    SIXDAYS_INLINE T2 __lows2##half2(T2 x, T2 y) {                                        \
        return {x.x, y.x};                                                                \
    }                                                                                     \
    SIXDAYS_INLINE T2 __highs2##half2(T2 x, T2 y) {                                       \
        return {x.y, y.y};                                                                \
    }
