/// @file
/// Element by element: arithmetic, comparison, choice, casts, and the functions of <cmath>. Operands
/// are tiles or numbers; lengths of 1 are repeated.
#pragma once

#include <cmath>

#include "tile.h"

namespace cuda::tiles {

// --- how to round, what of NaN: words behind the operands ------------------------------------------
enum class rounding_mode : unsigned char {
    round_ties_to_even,
    round_toward_zero,
    round_toward_negative,
    round_toward_positive,
    round_approximate,
    round_full,
    round_ties_to_away
};
template <rounding_mode>
struct rounding_mode_constant {};
using round_ties_to_even_t = rounding_mode_constant<rounding_mode::round_ties_to_even>;
using round_approximate_t = rounding_mode_constant<rounding_mode::round_approximate>;
using round_full_t = rounding_mode_constant<rounding_mode::round_full>;

enum class subnormals_rounding_mode : unsigned char {
    preserve_subnormals,
    round_subnormals_to_zero
};
template <subnormals_rounding_mode>
struct subnormals_rounding_mode_constant {};
using preserve_subnormals_t =
    subnormals_rounding_mode_constant<subnormals_rounding_mode::preserve_subnormals>;
using round_subnormals_to_zero_t =
    subnormals_rounding_mode_constant<subnormals_rounding_mode::round_subnormals_to_zero>;

enum class nan_propagation_mode : unsigned char { suppress_nan, propagate_nan };
template <nan_propagation_mode>
struct nan_propagation_mode_constant {};
using suppress_nan_t = nan_propagation_mode_constant<nan_propagation_mode::suppress_nan>;
using propagate_nan_t = nan_propagation_mode_constant<nan_propagation_mode::propagate_nan>;

namespace detail {

// --- which type comes out ------------------------------------------------------------------------
template <class A, class B>
auto common() {
    if constexpr (std::is_same_v<A, B>) {
        return A{};
    } else if constexpr (is_real<A> && is_real<B>) {
        if constexpr (sizeof(A) > sizeof(B)) {
            return A{};
        } else if constexpr (sizeof(A) < sizeof(B)) {
            return B{};
        }  // half and bfloat16: neither
    } else if constexpr (is_real<A>) {
        return A{};
    } else if constexpr (is_real<B>) {
        return B{};
    } else if constexpr (sizeof(A) != sizeof(B)) {  // small integers stay small
        return std::conditional_t<(sizeof(A) > sizeof(B)), A, B>{};
    } else {
        return std::conditional_t<std::is_unsigned_v<A>, A, B>{};
    }
}
/// Of a tile and a number the tile decides; of two tiles, the wider.
template <class A, class B>
auto common_element() {
    if constexpr (is_tile<A> && !is_tile<B>) {
        return element_of<A>{};
    } else if constexpr (is_tile<B> && !is_tile<A>) {
        return element_of<B>{};
    } else {
        return common<element_of<A>, element_of<B>>();
    }
}
template <class A, class B>
using arithmetic = decltype(common_element<A, B>());
template <class A, class B>
using compared = decltype(common<element_of<A>, element_of<B>>());

template <class A, class B, class R>
consteval bool go_together() {
    if constexpr (std::is_void_v<R>) {
        return false;
    } else {
        return broadcasts<shape_of<A>, shape_of<B>>() && !narrows<element_of<A>, R>() &&
               !narrows<element_of<B>, R>();
    }
}
template <class A, class B>
concept numbers = is_number<element_of<A>> && is_number<element_of<B>>;
template <class A, class B>
concept calculable = numbers<A, B> && go_together<A, B, arithmetic<A, B>>();
template <class A, class B>
concept comparable = numbers<A, B> && go_together<A, B, compared<A, B>>();
/// Is A of this shape, or may it be repeated to be?
template <class A, class S>
concept fits = broadcasts<shape_of<A>, S>() && std::is_same_v<broadcast_shape<shape_of<A>, S>, S>;
template <class A, class B>
concept one_is_tile = is_tile<A> || is_tile<B>;

template <class A, class B, class E>
struct result_of {
    using type = tile<E, broadcast_shape<shape_of<A>, shape_of<B>>>;
};
template <class A, class B, class E>
requires(!is_tile<A> && !is_tile<B>) struct result_of<A, B, E> {
    using type = E;
};
template <class A, class B, class E>
using result = typename result_of<A, B, E>::type;

/// of(a's element, b's element), each first made a T.
template <class T, class E, class A, class B, class Of>
SIXDAYS_TILE inline result<A, B, E> each(const A& a, const B& b, const Of& of) {
    using R = result<A, B, E>;
    using S = shape_of<R>;
    return made<R>([&](std::size_t n) SIXDAYS_TILE {
        return static_cast<E>(of(static_cast<T>(at(a, place<shape_of<A>, S>(n))),
                                 static_cast<T>(at(b, place<shape_of<B>, S>(n)))));
    });
}
template <class E, class A, class Of>
SIXDAYS_TILE inline tile_with_element_t<A, E> each_of(const A& a, const Of& of) {
    return made<tile_with_element_t<A, E>>(
        [&](std::size_t n) SIXDAYS_TILE { return static_cast<E>(of(at(a, n))); });
}

template <class T>
SIXDAYS_TILE inline bool is_nan(T x) {
    if constexpr (is_real<T>) return x != x;
    return false;
}
/// A number wins over NaN, unless NaN was asked to win.
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
template <class... How>
inline constexpr bool nan_wins = (std::is_same_v<How, propagate_nan_t> || ...);

template <class T>
using wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

}  // namespace detail

// --- operators -------------------------------------------------------------------------------------
#define SIXDAYS_ARITHMETIC(op, name)                                                         \
    template <class A, class B, class... How>                                                \
    requires detail::calculable<A, B> SIXDAYS_TILE inline auto name(const A& a, const B& b,  \
                                                                    How...) {                \
        using T = detail::arithmetic<A, B>;                                                  \
        return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE { return x op y; });       \
    }                                                                                        \
    template <class A, class B>                                                              \
    requires(detail::one_is_tile<A, B> && detail::calculable<A, B>) SIXDAYS_TILE inline auto \
    operator op(const A& a, const B& b) {                                                    \
        return name(a, b);                                                                   \
    }
SIXDAYS_ARITHMETIC(+, add)
SIXDAYS_ARITHMETIC(-, sub)
SIXDAYS_ARITHMETIC(*, mul)
SIXDAYS_ARITHMETIC(/, div)
#undef SIXDAYS_ARITHMETIC

#define SIXDAYS_INTEGER(op)                                                            \
    template <class A, class B>                                                        \
    requires(detail::one_is_tile<A, B> && detail::calculable<A, B> &&                  \
             std::is_integral_v<detail::arithmetic<A, B>>) SIXDAYS_TILE inline auto    \
    operator op(const A& a, const B& b) {                                              \
        using T = detail::arithmetic<A, B>;                                            \
        return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE { return x op y; }); \
    }
SIXDAYS_INTEGER(%)
SIXDAYS_INTEGER(&)
SIXDAYS_INTEGER(|)
SIXDAYS_INTEGER(^)
#undef SIXDAYS_INTEGER

#define SIXDAYS_COMPARISON(op)                                                               \
    template <class A, class B>                                                              \
    requires(detail::one_is_tile<A, B> && detail::comparable<A, B>) SIXDAYS_TILE inline auto \
    operator op(const A& a, const B& b) {                                                    \
        using T = detail::compared<A, B>;                                                    \
        return detail::each<T, bool>(a, b, [](T x, T y) SIXDAYS_TILE { return x op y; });    \
    }
SIXDAYS_COMPARISON(<)
SIXDAYS_COMPARISON(<=)
SIXDAYS_COMPARISON(>)
SIXDAYS_COMPARISON(>=)
SIXDAYS_COMPARISON(==)
SIXDAYS_COMPARISON(!=)
SIXDAYS_COMPARISON(&&)
SIXDAYS_COMPARISON(||)
#undef SIXDAYS_COMPARISON

template <class A>
requires detail::is_tile<A> SIXDAYS_TILE inline A operator-(const A& a) {
    using T = tile_element_t<A>;
    return detail::each_of<T>(a, [](T x) SIXDAYS_TILE { return -x; });
}
template <class A>
requires detail::is_tile<A> SIXDAYS_TILE inline auto operator!(const A& a) {
    return detail::each_of<bool>(a, [](auto x) SIXDAYS_TILE { return !x; });
}

/// Addresses: a pointer, or a tile of them, and a tile of offsets in elements.
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

// --- choice ----------------------------------------------------------------------------------------
template <class A, class B, class... How>
requires detail::calculable<A, B> SIXDAYS_TILE inline auto max(const A& a, const B& b, How...) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(
        a, b, [](T x, T y) SIXDAYS_TILE { return detail::larger(x, y, detail::nan_wins<How...>); });
}
template <class A, class B, class... How>
requires detail::calculable<A, B> SIXDAYS_TILE inline auto min(const A& a, const B& b, How...) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {
        return detail::smaller(x, y, detail::nan_wins<How...>);
    });
}
template <class C, class T>
SIXDAYS_TILE inline T select(const C& condition, const T& yes, const T& no) {
    return detail::made<T>([&](std::size_t n) SIXDAYS_TILE {
        const bool first = static_cast<bool>(
            detail::at(condition, detail::place<tile_shape_t<C>, tile_shape_t<T>>(n)));
        return first ? detail::at(yes, n) : detail::at(no, n);
    });
}

// --- casts -----------------------------------------------------------------------------------------
template <class E, class A, class... How>
SIXDAYS_TILE inline auto element_cast(const A& a, How...) {
    using T = tile_element_t<A>;
    return detail::each_of<E>(a, [](T x) SIXDAYS_TILE {
        if constexpr (std::is_same_v<E, __nv_tf32> && !std::is_same_v<T, __nv_tf32>) {
            const auto bits = __builtin_bit_cast(uint32_t, static_cast<float>(x));
            if ((bits & 0x7f800000u) == 0x7f800000u) return E{static_cast<float>(x)};
            const uint32_t even = bits >> 13 & 1;  // 10 bits of 23 stay
            return E{__builtin_bit_cast(float, (bits + 0xfffu + even) & ~0x1fffu)};
        } else if constexpr (std::is_same_v<T, __nv_tf32> && !std::is_same_v<E, __nv_tf32>) {
            return static_cast<E>(x.value);
        } else {
            return static_cast<E>(x);
        }
    });
}
template <class E, class A>
SIXDAYS_TILE inline auto element_bitcast(const A& a) {
    return detail::each_of<E>(a, [](auto x) SIXDAYS_TILE { return __builtin_bit_cast(E, x); });
}

// --- functions -------------------------------------------------------------------------------------
// What may be given a rounding mode has it as its first template argument: exp<Tile>(x) does not compile.
#define SIXDAYS_FUNCTION(name, expression, ...)                                                  \
    template <__VA_ARGS__ class A, class... How>                                                 \
    requires detail::is_real<tile_element_t<A>> SIXDAYS_TILE inline A name(const A& a, How...) { \
        using T = tile_element_t<A>;                                                             \
        return detail::each_of<T>(a, [](T element) SIXDAYS_TILE {                                \
            const auto x = static_cast<detail::wide<T>>(element);                                \
            return static_cast<T>(expression);                                                   \
        });                                                                                      \
    }
#define SIXDAYS_ROUNDED(name, expression) SIXDAYS_FUNCTION(name, expression, auto MODE = 0, )
SIXDAYS_ROUNDED(exp, std::exp(x))
SIXDAYS_ROUNDED(exp2, std::exp2(x))
SIXDAYS_FUNCTION(log, std::log(x))
SIXDAYS_FUNCTION(log2, std::log2(x))
SIXDAYS_ROUNDED(sqrt, std::sqrt(x))
SIXDAYS_ROUNDED(rsqrt, 1 / std::sqrt(x))
SIXDAYS_FUNCTION(sin, std::sin(x))
SIXDAYS_FUNCTION(cos, std::cos(x))
SIXDAYS_FUNCTION(tan, std::tan(x))
SIXDAYS_FUNCTION(sinh, std::sinh(x))
SIXDAYS_FUNCTION(cosh, std::cosh(x))
SIXDAYS_ROUNDED(tanh, std::tanh(x))
SIXDAYS_FUNCTION(floor, std::floor(x))
SIXDAYS_FUNCTION(ceil, std::ceil(x))
#undef SIXDAYS_ROUNDED
#undef SIXDAYS_FUNCTION

template <class A>
requires detail::is_number<tile_element_t<A>> SIXDAYS_TILE inline A abs(const A& a) {
    using T = tile_element_t<A>;
    return detail::each_of<T>(a, [](T x) SIXDAYS_TILE { return x < T(0) ? -x : x + T(0); });
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
requires detail::calculable<A, B> SIXDAYS_TILE inline auto pow(const A& a, const B& b) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(a, b, [](T x, T y) SIXDAYS_TILE {
        return std::pow(static_cast<detail::wide<T>>(x), static_cast<detail::wide<T>>(y));
    });
}
template <class A, class B>
requires detail::calculable<A, B> SIXDAYS_TILE inline auto ceildiv(const A& a, const B& b) {
    using T = detail::arithmetic<A, B>;
    return detail::each<T, T>(
        a, b, [](T x, T y) SIXDAYS_TILE { return x / y + (x % y != 0 && (x < 0) == (y < 0)); });
}
/// a * b + acc, rounded once.
template <class A, class B, class Acc, class... How>
requires detail::fits<A, detail::shape_of<Acc>> && detail::fits<B, detail::shape_of<Acc>>
    SIXDAYS_TILE inline Acc fma(const A& a, const B& b, const Acc& acc, How...) {
    using T = tile_element_t<Acc>;
    using S = tile_shape_t<Acc>;
    return detail::made<Acc>([&](std::size_t n) SIXDAYS_TILE {
        const T x = static_cast<T>(detail::at(a, detail::place<tile_shape_t<A>, S>(n)));
        const T y = static_cast<T>(detail::at(b, detail::place<tile_shape_t<B>, S>(n)));
        if constexpr (std::is_floating_point_v<T>) return std::fma(x, y, detail::at(acc, n));
        return static_cast<T>(x * y + detail::at(acc, n));
    });
}

}  // namespace cuda::tiles
