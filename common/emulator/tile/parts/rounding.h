/// @file
/// Rounding, subnormal and NaN modes: constants passed after the operands. Each operation accepts
/// the same modes as nvcc 13.5; others do not compile.
#pragma once

#include <cmath>
#include <limits>

#include "emulated/more_math.h"
#include "tile.h"

namespace cuda::tiles {

enum class rounding_mode : unsigned char {
    round_ties_to_even,
    round_toward_zero,
    round_toward_negative,
    round_toward_positive,
    round_approximate,
    round_full,
    round_ties_to_away
};
enum class subnormals_rounding_mode : unsigned char {
    preserve_subnormals,
    round_subnormals_to_zero
};
enum class nan_propagation_mode : unsigned char { suppress_nan, propagate_nan };

template <rounding_mode MODE>
struct rounding_mode_constant : detail::Constant<MODE> {};
template <subnormals_rounding_mode MODE>
struct subnormals_rounding_mode_constant : detail::Constant<MODE> {};
template <nan_propagation_mode MODE>
struct nan_propagation_mode_constant : detail::Constant<MODE> {};

using round_ties_to_even_t = rounding_mode_constant<rounding_mode::round_ties_to_even>;
using round_toward_zero_t = rounding_mode_constant<rounding_mode::round_toward_zero>;
using round_toward_negative_t = rounding_mode_constant<rounding_mode::round_toward_negative>;
using round_toward_positive_t = rounding_mode_constant<rounding_mode::round_toward_positive>;
using round_approximate_t = rounding_mode_constant<rounding_mode::round_approximate>;
using round_full_t = rounding_mode_constant<rounding_mode::round_full>;
using round_ties_to_away_t = rounding_mode_constant<rounding_mode::round_ties_to_away>;
using preserve_subnormals_t =
    subnormals_rounding_mode_constant<subnormals_rounding_mode::preserve_subnormals>;
using round_subnormals_to_zero_t =
    subnormals_rounding_mode_constant<subnormals_rounding_mode::round_subnormals_to_zero>;
using suppress_nan_t = nan_propagation_mode_constant<nan_propagation_mode::suppress_nan>;
using propagate_nan_t = nan_propagation_mode_constant<nan_propagation_mode::propagate_nan>;

SIXDAYS_TILE constexpr rounding_mode default_rounding_mode() noexcept {
    return rounding_mode::round_ties_to_even;
}
SIXDAYS_TILE constexpr subnormals_rounding_mode default_subnormals_rounding_mode() noexcept {
    return subnormals_rounding_mode::preserve_subnormals;
}
SIXDAYS_TILE constexpr nan_propagation_mode default_nan_propagation_mode() noexcept {
    return nan_propagation_mode::suppress_nan;
}
using default_rounding_mode_t = rounding_mode_constant<default_rounding_mode()>;
using default_subnormals_rounding_mode_t =
    subnormals_rounding_mode_constant<default_subnormals_rounding_mode()>;
using default_nan_propagation_mode_t =
    nan_propagation_mode_constant<default_nan_propagation_mode()>;

namespace detail {

// --- which mode is valid for which type ----------------------------------------------------------
using Mode = rounding_mode;
using SubMode = subnormals_rounding_mode;
inline constexpr Mode kNearest = Mode::round_ties_to_even;
inline constexpr SubMode kPreserve = SubMode::preserve_subnormals;

/// The modes of IEEE 754. The others select the accuracy of a function.
template <Mode MODE>
inline constexpr bool is_precise = MODE <= Mode::round_toward_positive;
/// E is the element type.
template <class E, Mode MODE>
concept rounds = is_real<E> &&(is_precise<MODE> || std::is_same_v<E, float>);
template <class E, SubMode MODE>
concept keeps_or_flushes = is_real<E> &&(MODE == kPreserve || std::is_same_v<E, float>);
template <class E, Mode MODE, SubMode SUB>
concept rounds_precisely = rounds<E, MODE> && is_precise<MODE> && keeps_or_flushes<E, SUB>;
/// For exp and tanh.
template <class E, Mode MODE>
concept approximates = is_real<E> &&
    (MODE == Mode::round_full || (MODE == Mode::round_approximate && std::is_same_v<E, float>));

template <class From, class To, Mode MODE>
consteval bool casts() {
    if (!is_float<From> || !is_float<To>) return false;
    if (!narrows<From, To>()) return is_precise<MODE> || MODE == Mode::round_ties_to_away;
    if (std::is_same_v<From, double> && std::is_same_v<To, float>) return is_precise<MODE>;
    if (MODE == Mode::round_ties_to_away)
        return std::is_same_v<From, float> && std::is_same_v<To, __nv_tf32>;
    return MODE == kNearest || MODE == Mode::round_toward_zero;
}

// --- one operation, rounded once -----------------------------------------------------------------
using sixdays::emulator::Arithmetic;
using sixdays::emulator::Rounding;
using sixdays::emulator::RoundTo;

template <Mode MODE>
inline constexpr RoundTo kRoundTo = MODE == Mode::round_toward_zero       ? RoundTo::zero
                                    : MODE == Mode::round_toward_negative ? RoundTo::down
                                    : MODE == Mode::round_toward_positive ? RoundTo::up
                                                                          : RoundTo::nearest;
template <Mode MODE>
inline constexpr Rounding kRounding = MODE == Mode::round_toward_zero       ? Rounding::to_zero
                                      : MODE == Mode::round_toward_negative ? Rounding::down
                                      : MODE == Mode::round_toward_positive ? Rounding::up
                                                                            : Rounding::nearest;

template <class T>
inline constexpr int exponent_bits = std::is_same_v<T, __half> ? 5 : 8;
/// Rounds a double to a 16-bit float.
template <Mode MODE, class T>
SIXDAYS_TILE inline T small(double x) {
    return T::from_bits(sixdays::emulator::small_bits<exponent_bits<T>>(x, kRounding<MODE>));
}

template <SubMode SUB, class T>
SIXDAYS_TILE inline T subround(T x) {
    if constexpr (SUB == kPreserve) {
        return x;
    } else {
        return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
    }
}

template <Mode MODE, SubMode SUB, class T>
SIXDAYS_TILE inline T computed(Arithmetic operation, T a, T b, T c = T(0)) {
    if constexpr (sizeof(T) == 2) {
        // Round to odd: of the two doubles around the exact result, the odd one gives the same
        // result as the exact one when it is rounded again.
        const double x = a, y = b, z = c;
        const double down = sixdays::emulator::rounded(operation, RoundTo::down, x, y, z);
        const double up = sixdays::emulator::rounded(operation, RoundTo::up, x, y, z);
        const bool exact = down == up;
        const bool odd = (__builtin_bit_cast(uint64_t, down) & 1) != 0;
        const bool lower = exact ? MODE == Mode::round_toward_negative : odd;  // sign of 0
        return small<MODE, T>(lower ? down : up);
    } else {
        a = subround<SUB>(a);
        b = subround<SUB>(b);
        c = subround<SUB>(c);
        return subround<SUB>(sixdays::emulator::rounded(operation, kRoundTo<MODE>, a, b, c));
    }
}

/// Converts between floating-point types, rounding by MODE.
template <Mode MODE, class To, class From>
SIXDAYS_TILE inline To cast(From x) {
    if constexpr (MODE == kNearest || !narrows<From, To>()) {
        return converted<To>(x);
    } else if constexpr (std::is_same_v<From, __nv_tf32>) {
        return cast<MODE, To>(x.value);
    } else if constexpr (std::is_same_v<To, __nv_tf32>) {  // toward zero, or ties away from zero
        auto bits = __builtin_bit_cast(uint32_t, cast<Mode::round_toward_zero, float>(x));
        if ((bits & 0x7f800000u) == 0x7f800000u) return converted<To>(x);
        if constexpr (MODE == Mode::round_ties_to_away) bits += 0x1000;
        return To{__builtin_bit_cast(float, bits & ~0x1fffu)};
    } else if constexpr (sizeof(To) == 2) {
        return small<MODE, To>(static_cast<double>(x));
    } else {  // double to float
        const To near = static_cast<To>(x);
        constexpr To kInfinity = std::numeric_limits<To>::infinity();
        const bool beyond = static_cast<double>(near) > x, before = static_cast<double>(near) < x;
        if constexpr (MODE == Mode::round_toward_negative) {
            return beyond ? std::nextafter(near, -kInfinity) : near;
        } else if constexpr (MODE == Mode::round_toward_positive) {
            return before ? std::nextafter(near, kInfinity) : near;
        } else {
            return (x > 0 ? beyond : before) ? std::nextafter(near, To{0}) : near;
        }
    }
}

}  // namespace detail

}  // namespace cuda::tiles
