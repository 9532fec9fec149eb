/// @file
/// Elementwise operations: arithmetic, comparison, selection, casts, and functions of <cmath>.
/// Operands are tiles or scalars; lengths of 1 are broadcast.
#pragma once

#include <cmath>

#include "rounding.h"

namespace cuda::tiles {
namespace detail {

/// At least one operand is a tile: for two scalars C++ has built-in operators.
template <class A, class B>
concept one_is_tile = is_tile<A> || is_tile<B>;

/// of(a's element, b's element), each converted to T.
template <class T, class E, class A, class B, class Of>
SIXDAYS_TILE inline result<A, B, E> each(const A& a, const B& b, const Of& of) {
    using R = result<A, B, E>;
    using S = shape_of<R>;
    return made<R>([&](std::size_t n) SIXDAYS_TILE {
        return converted<E>(of(converted<T>(at(a, place<shape_of<A>, S>(n))),
                               converted<T>(at(b, place<shape_of<B>, S>(n)))));
    });
}
template <class E, class A, class Of>
SIXDAYS_TILE inline tile_with_element_t<A, E> each_of(const A& a, const Of& of) {
    return made<tile_with_element_t<A, E>>([&](std::size_t n)
                                               SIXDAYS_TILE { return converted<E>(of(at(a, n))); });
}

template <class T>
SIXDAYS_TILE inline bool is_nan(T x) {
    if constexpr (is_real<T>) return x != x;
    return false;
}
/// Returns the number if the other operand is NaN, unless nan_wins.
template <class T>
SIXDAYS_TILE inline T larger(T a, T b, bool nan_wins) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) == nan_wins ? a : b;
    return a < b ? b : a;
}
template <class T>
SIXDAYS_TILE inline T smaller(T a, T b, bool nan_wins) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) == nan_wins ? a : b;
    return b < a ? b : a;
}
/// The type in which functions are computed.
template <class T>
using wide = std::conditional_t<sizeof(T) == 8, T, float>;

}  // namespace detail

// --- operators -------------------------------------------------------------------------------------
#define SIXDAYS_ARITHMETIC(op, name, modes)                                                      \
    template <class A, class B>                                                                  \
    requires arithmetic_tile_convertible<A, B> SIXDAYS_TILE inline auto name(const A& a,         \
                                                                             const B& b) {       \
        using T = detail::arithmetic<A, B>;                                                      \
        return detail::each<T, T>(a, b,                                                          \
                                  [](T x, T y) SIXDAYS_TILE { return static_cast<T>(x op y); }); \
    }                                                                                            \
    template <rounding_mode MODE, subnormals_rounding_mode SUB = detail::kPreserve, class A,     \
              class B>                                                                           \
    requires arithmetic_tile_convertible<A, B> && modes<detail::arithmetic<A, B>, MODE> &&       \
        detail::keeps_or_flushes<detail::arithmetic<A, B>, SUB>                                  \
            SIXDAYS_TILE inline auto name(const A& a, const B& b, rounding_mode_constant<MODE>,  \
                                          subnormals_rounding_mode_constant<SUB> = {}) {         \
        using T = detail::arithmetic<A, B>;                                                      \
        return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {                              \
            return detail::computed<MODE, SUB>(detail::Arithmetic::name, x, y);                  \
        });                                                                                      \
    }                                                                                            \
    template <class A, class B>                                                                  \
    requires(detail::one_is_tile<A, B> && arithmetic_tile_convertible<A, B>)                     \
        SIXDAYS_TILE inline auto                                                                 \
        operator op(const A& a, const B& b) {                                                    \
        return name(a, b);                                                                       \
    }
namespace detail {
template <class E, Mode MODE>
concept rounds_once = rounds_precisely<E, MODE, kPreserve>;
}
SIXDAYS_ARITHMETIC(+, add, detail::rounds_once)
SIXDAYS_ARITHMETIC(-, sub, detail::rounds_once)
SIXDAYS_ARITHMETIC(*, mul, detail::rounds_once)
SIXDAYS_ARITHMETIC(/, div, detail::rounds)
#undef SIXDAYS_ARITHMETIC

#define SIXDAYS_INTEGER(op)                                                                        \
    template <class A, class B>                                                                    \
    requires(detail::one_is_tile<A, B> && arithmetic_tile_convertible<A, B> && integral_tile<A> && \
             integral_tile<B>) SIXDAYS_TILE inline auto                                            \
    operator op(const A& a, const B& b) {                                                          \
        using T = detail::arithmetic<A, B>;                                                        \
        return detail::each<T, T>(a, b,                                                            \
                                  [](T x, T y) SIXDAYS_TILE { return static_cast<T>(x op y); });   \
    }
SIXDAYS_INTEGER(%)
SIXDAYS_INTEGER(&)
SIXDAYS_INTEGER(|)
SIXDAYS_INTEGER(^)
#undef SIXDAYS_INTEGER

#define SIXDAYS_COMPARISON(op)                                                            \
    template <class A, class B>                                                           \
    requires(detail::one_is_tile<A, B> && arithmetic_tile_comparable<A, B>)               \
        SIXDAYS_TILE inline auto                                                          \
        operator op(const A& a, const B& b) {                                             \
        using T = detail::compared<A, B>;                                                 \
        return detail::each<T, bool>(a, b, [](T x, T y) SIXDAYS_TILE { return x op y; }); \
    }
SIXDAYS_COMPARISON(<)
SIXDAYS_COMPARISON(<=)
SIXDAYS_COMPARISON(>)
SIXDAYS_COMPARISON(>=)
SIXDAYS_COMPARISON(==)
SIXDAYS_COMPARISON(!=)
#undef SIXDAYS_COMPARISON

#define SIXDAYS_LOGICAL(op)                                                                        \
    template <class A, class B>                                                                    \
    requires(detail::one_is_tile<A, B> && bool_tile_convertible<A> && bool_tile_convertible<B> &&  \
             broadcast_compatible<A, B>) SIXDAYS_TILE inline auto                                  \
    operator op(const A& a, const B& b) {                                                          \
        return detail::each<bool, bool>(a, b, [](bool x, bool y) SIXDAYS_TILE { return x op y; }); \
    }
SIXDAYS_LOGICAL(&&)
SIXDAYS_LOGICAL(||)
#undef SIXDAYS_LOGICAL

template <class A>
requires(detail::is_tile<A>&& arithmetic_tile<A>) SIXDAYS_TILE inline A operator-(const A& a) {
    using T = tile_element_t<A>;
    return detail::each_of<T>(a, [](T x) SIXDAYS_TILE { return static_cast<T>(-x); });
}
template <class A>
requires(detail::is_tile<A>&& bool_tile_convertible<A>) SIXDAYS_TILE inline auto operator!(
    const A& a) {
    return detail::each_of<bool>(a, [](auto x) SIXDAYS_TILE { return !static_cast<bool>(x); });
}

/// Address arithmetic: a pointer or a tile of pointers, plus offsets in elements.
template <class P, class I>
requires(detail::one_is_tile<P, I>&& std::is_pointer_v<detail::element_of<P>>&&
             std::is_integral_v<detail::element_of<I>>) SIXDAYS_TILE inline auto
operator+(const P& pointers, const I& offsets) {
    using E = detail::element_of<P>;
    using R = detail::result<P, I, E>;
    using S = detail::shape_of<R>;
    return detail::made<R>([&](std::size_t n) SIXDAYS_TILE {
        return detail::at(pointers, detail::place<detail::shape_of<P>, S>(n)) +
               detail::at(offsets, detail::place<detail::shape_of<I>, S>(n));
    });
}
template <class I, class P>
requires(detail::one_is_tile<P, I>&& std::is_pointer_v<detail::element_of<P>>&&
             std::is_integral_v<detail::element_of<I>>) SIXDAYS_TILE inline auto
operator+(const I& offsets, const P& pointers) {
    return pointers + offsets;
}

// --- selection -----------------------------------------------------------------------------------
#define SIXDAYS_CHOICE(name, chosen)                                                             \
    template <nan_propagation_mode NAN_MODE, subnormals_rounding_mode SUB = detail::kPreserve,   \
              class A, class B>                                                                  \
    requires arithmetic_tile_convertible<A, B> &&                                                \
        detail::keeps_or_flushes<detail::arithmetic<A, B>, SUB>                                  \
            SIXDAYS_TILE inline auto name(const A& a, const B& b,                                \
                                          nan_propagation_mode_constant<NAN_MODE>,               \
                                          subnormals_rounding_mode_constant<SUB> = {}) {         \
        using T = detail::arithmetic<A, B>;                                                      \
        return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {                              \
            constexpr bool kNanWins = NAN_MODE == nan_propagation_mode::propagate_nan;           \
            return detail::chosen(detail::subround<SUB>(x), detail::subround<SUB>(y), kNanWins); \
        });                                                                                      \
    }                                                                                            \
    template <class A, class B>                                                                  \
    requires arithmetic_tile_convertible<A, B> SIXDAYS_TILE inline auto name(const A& a,         \
                                                                             const B& b) {       \
        using T = detail::arithmetic<A, B>;                                                      \
        return detail::each<T, T>(                                                               \
            a, b, [](T x, T y) SIXDAYS_TILE { return detail::chosen(x, y, false); });            \
    }
SIXDAYS_CHOICE(max, larger)
SIXDAYS_CHOICE(min, smaller)
#undef SIXDAYS_CHOICE
template <class C, class T>
SIXDAYS_TILE inline T select(const C& condition, const T& yes, const T& no) {
    return detail::made<T>([&](std::size_t n) SIXDAYS_TILE {
        const bool first = static_cast<bool>(
            detail::at(condition, detail::place<tile_shape_t<C>, tile_shape_t<T>>(n)));
        return first ? detail::at(yes, n) : detail::at(no, n);
    });
}

// --- casts -----------------------------------------------------------------------------------------
template <scalar E, tile_like A>
requires tile_convertible_to<A, tile_with_element_t<A, E>> SIXDAYS_TILE inline auto element_cast(
    const A& a) {
    return detail::each_of<E>(a, [](auto x) SIXDAYS_TILE { return x; });
}
template <scalar E, tile_like A, rounding_mode MODE>
requires(detail::casts<tile_element_t<A>, E, MODE>()) SIXDAYS_TILE
    inline auto element_cast(const A& a, rounding_mode_constant<MODE>) {
    return detail::each_of<E>(a, [](auto x) SIXDAYS_TILE { return detail::cast<MODE, E>(x); });
}
template <class E, class A>
SIXDAYS_TILE inline auto element_bitcast(const A& a) {
    return detail::each_of<E>(a, [](auto x) SIXDAYS_TILE { return __builtin_bit_cast(E, x); });
}

// --- functions -------------------------------------------------------------------------------------
// Functions with a rounding mode have it as their first template argument, so exp<Tile>(x) does not
// compile. `given` is the mode's template parameter, `asks` its constraint.
namespace detail {
template <class A, class Of>
SIXDAYS_TILE inline A function_of(const A& a, const Of& of) {
    using T = element_of<A>;
    return each_of<T>(
        a, [&](T x) SIXDAYS_TILE { return static_cast<T>(of(static_cast<wide<T>>(x))); });
}
}  // namespace detail
#define SIXDAYS_FUNCTION(name, expression)                                             \
    template <basic_floating_point_tile A>                                             \
    SIXDAYS_TILE inline A name(const A& a) {                                           \
        return detail::function_of(a, [](auto x) SIXDAYS_TILE { return expression; }); \
    }
#define SIXDAYS_APPROXIMATED(name, expression)                                             \
    template <rounding_mode MODE = rounding_mode::round_full, class A>                     \
    requires detail::approximates<detail::element_of<A>, MODE> SIXDAYS_TILE inline A name( \
        const A& a, rounding_mode_constant<MODE> = {}) {                                   \
        return detail::function_of(a, [](auto x) SIXDAYS_TILE { return expression; });     \
    }
#define SIXDAYS_FLUSHED(name, expression)                                                     \
    template <subnormals_rounding_mode SUB = detail::kPreserve, class A>                      \
    requires detail::keeps_or_flushes<detail::element_of<A>, SUB> SIXDAYS_TILE inline A name( \
        const A& a, subnormals_rounding_mode_constant<SUB> = {}) {                            \
        return detail::function_of(a, [](auto given) SIXDAYS_TILE {                           \
            const auto x = detail::subround<SUB>(given);                                      \
            return detail::subround<SUB>(expression);                                         \
        });                                                                                   \
    }
SIXDAYS_APPROXIMATED(exp, std::exp(x))
SIXDAYS_FLUSHED(exp2, std::exp2(x))
SIXDAYS_FUNCTION(log, std::log(x))
SIXDAYS_FUNCTION(log2, std::log2(x))
SIXDAYS_FLUSHED(rsqrt, 1 / std::sqrt(x))
SIXDAYS_FUNCTION(sin, std::sin(x))
SIXDAYS_FUNCTION(cos, std::cos(x))
SIXDAYS_FUNCTION(tan, std::tan(x))
SIXDAYS_FUNCTION(sinh, std::sinh(x))
SIXDAYS_FUNCTION(cosh, std::cosh(x))
SIXDAYS_APPROXIMATED(tanh, std::tanh(x))
SIXDAYS_FUNCTION(floor, std::floor(x))
SIXDAYS_FUNCTION(ceil, std::ceil(x))
#undef SIXDAYS_FUNCTION
#undef SIXDAYS_APPROXIMATED
#undef SIXDAYS_FLUSHED

template <rounding_mode MODE = detail::kNearest, subnormals_rounding_mode SUB = detail::kPreserve,
          class A>
requires detail::rounds<detail::element_of<A>, MODE> &&
    (detail::is_precise<MODE> || MODE == rounding_mode::round_approximate) &&
    detail::keeps_or_flushes<detail::element_of<A>, SUB> SIXDAYS_TILE inline A
    sqrt(const A& a, rounding_mode_constant<MODE> = {},
         subnormals_rounding_mode_constant<SUB> = {}) {
    using T = tile_element_t<A>;
    return detail::each_of<T>(a, [](T x) SIXDAYS_TILE {
        return detail::computed<MODE, SUB>(detail::Arithmetic::sqrt, x, T(0));
    });
}

template <arithmetic_tile A>
SIXDAYS_TILE inline A abs(const A& a) {
    using T = tile_element_t<A>;
    return detail::each_of<T>(
        a, [](T x) SIXDAYS_TILE { return static_cast<T>(x < T(0) ? -x : x + T(0)); });
}
template <class A>
SIXDAYS_TILE inline auto isnan(const A& a) {
    return detail::each_of<bool>(a, [](auto x) SIXDAYS_TILE { return x != x; });
}
template <class A>
SIXDAYS_TILE inline auto isinf(const A& a) {
    return detail::each_of<bool>(
        a, [](auto x) SIXDAYS_TILE { return std::isinf(static_cast<double>(x)); });
}
template <class A, class B>
requires arithmetic_tile_convertible<A, B> SIXDAYS_TILE inline auto pow(const A& a, const B& b) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {
        using Wide = detail::wide<T>;
        return static_cast<T>(std::pow(static_cast<Wide>(x), static_cast<Wide>(y)));
    });
}
template <integral_tile A, integral_tile B>
requires arithmetic_tile_convertible<A, B> SIXDAYS_TILE inline auto ceildiv(const A& a,
                                                                            const B& b) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {
        return static_cast<T>(x / y + (x % y != 0 && (x < 0) == (y < 0)));
    });
}
/// a * b + acc, rounded once. acc determines the type and the shape.
template <rounding_mode MODE = detail::kNearest, subnormals_rounding_mode SUB = detail::kPreserve,
          class A, class B, basic_floating_point_tile Acc>
requires broadcastable_to<A, detail::shape_of<Acc>> && broadcastable_to<B, detail::shape_of<Acc>> &&
    non_narrowing_scalar_convertible_to<detail::element_of<A>, detail::element_of<Acc>> &&
    non_narrowing_scalar_convertible_to<detail::element_of<B>, detail::element_of<Acc>> &&
    detail::rounds_precisely<detail::element_of<Acc>, MODE, SUB>
        SIXDAYS_TILE inline Acc fma(const A& a, const B& b, const Acc& acc,
                                    rounding_mode_constant<MODE> = {},
                                    subnormals_rounding_mode_constant<SUB> = {}) {
    using T = tile_element_t<Acc>;
    using S = tile_shape_t<Acc>;
    return detail::made<Acc>([&](std::size_t n) SIXDAYS_TILE {
        const T x = detail::converted<T>(detail::at(a, detail::place<tile_shape_t<A>, S>(n)));
        const T y = detail::converted<T>(detail::at(b, detail::place<tile_shape_t<B>, S>(n)));
        const T z = detail::at(acc, n);
        if constexpr (sizeof(T) > 2 && MODE == detail::kNearest && SUB == detail::kPreserve) {
            return std::fma(x, y, z);
        } else {
            return detail::computed<MODE, SUB>(detail::Arithmetic::fma, x, y, z);
        }
    });
}

}  // namespace cuda::tiles
