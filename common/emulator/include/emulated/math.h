/// @file
/// Functions that CUDA adds to <cmath>. The fast ones (__expf, __fdividef) are exact here, so their
/// error in a kernel can only be tested on a GPU.
#pragma once

#if defined(__SANITIZE_THREAD__)  // in kernel files this is the first header
#define lerp sixdays_std_lerp     // C++17 programs may define this name
#endif
#include <math.h>  // into the global namespace too, as nvcc does

#include <cmath>
#if defined(__SANITIZE_THREAD__)
#undef lerp
#endif
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "emulated/language.h"

template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
__forceinline__ constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin(static_cast<T>(a), static_cast<T>(b));
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
__forceinline__ constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax(static_cast<T>(a), static_cast<T>(b));
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

__forceinline__ float rsqrtf(float x) {
    return 1.0f / std::sqrt(x);
}
__forceinline__ double rsqrt(double x) {
    return 1.0 / std::sqrt(x);
}
__forceinline__ float __fdividef(float a, float b) {
    return a / b;
}
__forceinline__ float __saturatef(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
// glibc's <math.h> declares these names as noexcept functions, but no library defines them.
inline float __expf(float x) noexcept {
    return std::exp(x);
}
inline float __exp10f(float x) noexcept {
    return std::pow(10.0f, x);
}
inline float __logf(float x) noexcept {
    return std::log(x);
}
inline float __log2f(float x) noexcept {
    return std::log2(x);
}
inline float __log10f(float x) noexcept {
    return std::log10(x);
}
inline float __sinf(float x) noexcept {
    return std::sin(x);
}
inline float __cosf(float x) noexcept {
    return std::cos(x);
}
inline float __tanf(float x) noexcept {
    return std::tan(x);
}
inline float __powf(float x, float y) noexcept {
    return std::pow(x, y);
}

// Arithmetic that rounds to nearest and is never fused with a neighbour.
__forceinline__ float __fadd_rn(float a, float b) {
    return a + b;
}
__forceinline__ float __fsub_rn(float a, float b) {
    return a - b;
}
__forceinline__ float __fmul_rn(float a, float b) {
    return a * b;
}
__forceinline__ float __fdiv_rn(float a, float b) {
    return a / b;
}
__forceinline__ float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
__forceinline__ float __fsqrt_rn(float x) {
    return std::sqrt(x);
}
__forceinline__ float __frcp_rn(float x) {
    return 1.0f / x;
}

namespace sixdays::emulator {
template <class To, class From>
__forceinline__ To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}
}  // namespace sixdays::emulator

__forceinline__ int __float_as_int(float x) {
    return sixdays::emulator::same_bits<int>(x);
}
__forceinline__ float __int_as_float(int x) {
    return sixdays::emulator::same_bits<float>(x);
}
__forceinline__ unsigned __float_as_uint(float x) {
    return sixdays::emulator::same_bits<unsigned>(x);
}
__forceinline__ float __uint_as_float(unsigned x) {
    return sixdays::emulator::same_bits<float>(x);
}
__forceinline__ long long __double_as_longlong(double x) {
    return sixdays::emulator::same_bits<long long>(x);
}
__forceinline__ double __longlong_as_double(long long x) {
    return sixdays::emulator::same_bits<double>(x);
}

__forceinline__ int __popc(unsigned x) {
    return __builtin_popcount(x);
}
__forceinline__ int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
__forceinline__ int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
__forceinline__ int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
__forceinline__ int __ffs(int x) {
    return __builtin_ffs(x);
}
__forceinline__ int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
__forceinline__ unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1) << (63 - bit);
    return reversed;
}
__forceinline__ unsigned __brev(unsigned x) {
    return static_cast<unsigned>(__brevll(x) >> 32);
}
__forceinline__ int __mulhi(int a, int b) {
    return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
__forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}
// Selects four of the eight bytes of `low` (0 to 3) and `high` (4 to 7) by the hexadecimal digits
// of `select`, the last digit for the lowest byte. From digit 8 on, replicates the byte's sign bit.
__forceinline__ unsigned __byte_perm(unsigned low, unsigned high, unsigned select) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned digit = select >> (4 * i) & 15;
        const auto byte = static_cast<unsigned>(both >> (8 * (digit & 7)) & 255);
        result |= (digit < 8 ? byte : (byte >> 7) * 255u) << (8 * i);
    }
    return result;
}

// Cache hints: the emulator has no caches, so these are plain loads and stores.
#define SIXDAYS_LOAD(name)               \
    template <class T>                   \
    __forceinline__ T name(const T* p) { \
        return *p;                       \
    }
#define SIXDAYS_STORE(name)                    \
    template <class T>                         \
    __forceinline__ void name(T* p, T value) { \
        *p = value;                            \
    }
SIXDAYS_LOAD(__ldg)
SIXDAYS_LOAD(__ldca)
SIXDAYS_LOAD(__ldcg)
SIXDAYS_LOAD(__ldcs)
SIXDAYS_LOAD(__ldcv)
SIXDAYS_LOAD(__ldlu)
SIXDAYS_STORE(__stwb)
SIXDAYS_STORE(__stcg)
SIXDAYS_STORE(__stcs)
SIXDAYS_STORE(__stwt)
#undef SIXDAYS_LOAD
#undef SIXDAYS_STORE
