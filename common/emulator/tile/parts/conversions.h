/// @file
/// Element types, their common types, and narrowing conversions. What CUDA's documentation calls
/// ill-formed does not compile here either.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "shapes.h"

struct __nv_tf32;  // defined in cuda_tf32.h

namespace cuda::tiles {

template <class E, class S>
class tile;

namespace detail {

template <class T>
struct parts {
    using element = T;
    using shape = tiles::shape<>;
    static constexpr bool is_tile = false;
};
template <class E, class S>
struct parts<tile<E, S>> {
    using element = E;
    using shape = S;
    static constexpr bool is_tile = true;
};
template <class T>
using element_of = typename parts<std::remove_cvref_t<T>>::element;
template <class T>
using shape_of = typename parts<std::remove_cvref_t<T>>::shape;
template <class T>
inline constexpr bool is_tile = parts<std::remove_cvref_t<T>>::is_tile;

/// Floating-point types with arithmetic: 16 to 64 bits.
template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
/// TF32 supports only loads, stores and matrix products.
template <class T>
inline constexpr bool is_float = is_real<T> || std::is_same_v<T, __nv_tf32>;
/// Integers of up to 64 bits.
template <class T>
inline constexpr bool is_whole = false;
template <class T>
requires std::is_integral_v<T>
inline constexpr bool is_whole<T> = sizeof(T) <= 8;
template <class T>
inline constexpr bool is_number = is_whole<T> || is_real<T>;
template <class T>
inline constexpr bool is_numeric = is_whole<T> || is_float<T>;
/// Pointers to numbers or to void, not to pointers.
template <class T>
inline constexpr bool is_address = std::is_pointer_v<T> &&
                                   (is_numeric<std::remove_cv_t<std::remove_pointer_t<T>>> ||
                                    std::is_void_v<std::remove_pointer_t<T>>);

/// E in the shape of T: a tile, or a scalar if T is one.
template <class T, class E>
struct with_element {
    using type = E;
};
template <class T, class S, class E>
struct with_element<tile<T, S>, E> {
    using type = tile<E, S>;
};

// --- ranks of types ------------------------------------------------------------------------------
/// Conversion to a greater rank is lossless; between __half and __nv_bfloat16 there is none.
template <class T>
consteval int float_rank() {
    return std::is_same_v<T, double>      ? 3
           : std::is_same_v<T, float>     ? 2
           : std::is_same_v<T, __nv_tf32> ? 1
                                          : 0;
}
template <class T>
consteval int integer_rank() {
    if (std::is_same_v<T, bool>) return 0;
    if (sizeof(T) <= 4) return sizeof(T) == 4 ? 3 : static_cast<int>(sizeof(T));
    return std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long> ? 5 : 4;
}
/// Breaks ties of equal rank and sign: char and wchar_t, then Unicode characters, then integers.
template <class T>
consteval int integer_subrank() {
    if (std::is_same_v<T, char> || std::is_same_v<T, wchar_t>) return 0;
    const bool letter =
        std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;
    return letter ? 1 : 2;
}
/// True if To can represent every value of From.
template <class From, class To>
concept all_fit = requires(From x) {
    To{x};
};

template <class T>
struct Type {
    using type = T;
};
template <class SIGNED, class UNSIGNED>
auto common_of_signs() {
    if constexpr (integer_rank<UNSIGNED>() > integer_rank<SIGNED>()) {
        return Type<UNSIGNED>();
    } else if constexpr (all_fit<UNSIGNED, SIGNED>) {
        return Type<SIGNED>();
    } else {
        return Type<std::make_unsigned_t<SIGNED>>();
    }
}
template <class A, class B>
auto common_integer() {
    if constexpr (std::is_signed_v<A> && !std::is_signed_v<B>) {
        return common_of_signs<A, B>();
    } else if constexpr (std::is_signed_v<B> && !std::is_signed_v<A>) {
        return common_of_signs<B, A>();
    } else {
        constexpr int kA = 8 * integer_rank<A>() + integer_subrank<A>();
        constexpr int kB = 8 * integer_rank<B>() + integer_subrank<B>();
        return Type<std::conditional_t<(kA >= kB), A, B>>();
    }
}
/// The common type in arithmetic. Small integers are not promoted. Type<void>: there is none.
template <class A, class B>
auto common() {
    if constexpr (std::is_same_v<A, B>) {
        return Type<A>();
    } else if constexpr (is_real<A> && is_real<B>) {
        using Greater = std::conditional_t<(float_rank<A>() > float_rank<B>()), A, B>;
        return Type<std::conditional_t<float_rank<A>() == float_rank<B>(), void, Greater>>();
    } else if constexpr (is_real<A> || is_real<B>) {
        return Type<std::conditional_t<is_real<A>, A, B>>();
    } else {
        return common_integer<A, B>();
    }
}
template <class A, class B>
using common_type = typename decltype(common<A, B>())::type;

/// True if a conversion may lose information. From integer to float it may, since it may round.
template <class From, class To>
consteval bool narrows() {
    if constexpr (std::is_same_v<From, To>) {
        return false;
    } else if constexpr (is_float<From> && is_float<To>) {
        return float_rank<From>() >= float_rank<To>();
    } else if constexpr (is_float<From> || is_float<To>) {
        return true;
    } else if constexpr (std::is_pointer_v<From>) {
        return std::is_same_v<To, bool>;
    } else {
        return !all_fit<From, To>;
    }
}
/// Arithmetic and comparisons allow integer-to-float conversions.
template <class From, class To>
consteval bool loses() {
    return narrows<From, To>() && !(is_whole<From> && is_float<To>);
}
template <class From, class To>
consteval bool converts() {
    if constexpr (is_numeric<From> && is_numeric<To>) {
        return true;
    } else if constexpr (is_address<From> && is_address<To>) {
        return all_fit<From, To>;
    } else {
        return is_address<From> && std::is_same_v<To, bool>;
    }
}

/// A tile's type wins over a scalar's; of two tiles or two scalars, the common type.
template <class A, class B>
auto arithmetic_type() {
    if constexpr (is_tile<A> != is_tile<B>) {
        return Type<std::conditional_t<is_tile<A>, element_of<A>, element_of<B>>>();
    } else {
        return common<element_of<A>, element_of<B>>();
    }
}
template <class A, class B>
using arithmetic = typename decltype(arithmetic_type<A, B>())::type;
template <class A, class B>
using compared = common_type<element_of<A>, element_of<B>>;

template <class A, class B, class R>
consteval bool go_together() {
    // half and bfloat16 do not mix, even where a tile's type wins.
    if constexpr (std::is_void_v<R> || std::is_void_v<compared<A, B>>) {
        return false;
    } else {
        return !loses<element_of<A>, R>() && !loses<element_of<B>, R>();
    }
}

/// A tile of E with the broadcast shape of A and B; for two scalars, a scalar.
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

}  // namespace detail

// --- kinds of elements -----------------------------------------------------------------------------
template <class T>
concept tile_like =
    detail::is_numeric<detail::element_of<T>> || detail::is_address<detail::element_of<T>>;
template <class T>
concept scalar = tile_like<T> && !detail::is_tile<T>;
template <class T>
concept integral_tile = detail::is_whole<detail::element_of<T>>;
template <class T>
concept basic_floating_point_tile = detail::is_real<detail::element_of<T>>;
template <class T>
concept floating_point_tile = detail::is_float<detail::element_of<T>>;
template <class T>
concept arithmetic_tile = detail::is_number<detail::element_of<T>>;
template <class T>
concept numeric_tile = detail::is_numeric<detail::element_of<T>>;
template <class T>
concept pointer_tile = detail::is_address<detail::element_of<T>>;
template <class T>
concept integral_scalar = integral_tile<T> && scalar<T>;
template <class T>
concept basic_floating_point_scalar = basic_floating_point_tile<T> && scalar<T>;
template <class T>
concept arithmetic_scalar = arithmetic_tile<T> && scalar<T>;
template <class T>
concept pointer_scalar = pointer_tile<T> && scalar<T>;

template <tile_like T>
using tile_element_t = detail::element_of<T>;
template <tile_like T>
using tile_shape_t = detail::shape_of<T>;
template <tile_like T, class E>
using tile_with_element_t = typename detail::with_element<std::remove_cvref_t<T>, E>::type;
template <tile_like T>
inline constexpr std::size_t tile_rank_v = tile_shape_t<T>::rank();

// --- conversions -----------------------------------------------------------------------------------
template <class A, class B>
concept scalar_convertible_to = scalar<A> && scalar<B> &&
    detail::converts<std::remove_cv_t<A>, std::remove_cv_t<B>>();
template <class A, class B>
concept non_narrowing_scalar_convertible_to =
    scalar_convertible_to<A, B> && !detail::narrows<std::remove_cv_t<A>, std::remove_cv_t<B>>();
template <class A, class B>
concept tile_convertible_to =
    tile_like<A> && tile_like<B> && scalar_convertible_to<tile_element_t<A>, tile_element_t<B>> &&
    same_shape<tile_shape_t<A>, tile_shape_t<B>>;
template <class A, class B>
concept non_narrowing_tile_convertible_to = tile_convertible_to<A, B> &&
    non_narrowing_scalar_convertible_to<tile_element_t<A>, tile_element_t<B>>;
template <class A>
concept bool_tile_convertible = tile_like<A> && scalar_convertible_to < tile_element_t<A>,
bool > ;

template <class A, class S>
concept broadcastable_to =
    tile_like<A> && tile_shape<S> && shape_broadcastable_to<detail::shape_of<A>, S>;
template <class A, class B>
concept broadcast_compatible = tile_like<A> && tile_like<B> &&
    shape_broadcast_compatible<detail::shape_of<A>, detail::shape_of<B>> &&
    tile_shape<detail::broadcast_shape<detail::shape_of<A>, detail::shape_of<B>>>;
template <class A, class B, class E>
requires broadcast_compatible<A, B>
using mutual_broadcast_t = detail::result<A, B, E>;

/// A and B can be added, multiplied, ...; and the common operand type.
template <class A, class B>
concept arithmetic_tile_convertible = arithmetic_tile<A> && arithmetic_tile<B> &&
    broadcast_compatible<A, B> && detail::go_together<A, B, detail::arithmetic<A, B>>();
template <class A, class B>
requires arithmetic_tile_convertible<A, B>
using arithmetic_tile_conversion_t = detail::result<A, B, detail::arithmetic<A, B>>;
/// A and B can be compared. Here a tile's type does not win over a scalar's.
template <class A, class B>
concept arithmetic_tile_comparable = arithmetic_tile<A> && arithmetic_tile<B> &&
    broadcast_compatible<A, B> && detail::go_together<A, B, detail::compared<A, B>>();
template <class A, class B>
requires arithmetic_tile_comparable<A, B>
using arithmetic_tile_comparison_t = detail::result<A, B, detail::compared<A, B>>;

template <class P>
concept loadable_tile =
    pointer_tile<P> && !std::is_void_v<std::remove_pointer_t<detail::element_of<P>>> &&
    !std::is_volatile_v<std::remove_pointer_t<detail::element_of<P>>>;
template <class P>
concept storeable_tile =
    loadable_tile<P> && !std::is_const_v<std::remove_pointer_t<detail::element_of<P>>>;
template <loadable_tile P>
using tile_load_t =
    tile_with_element_t<P, std::remove_cv_t<std::remove_pointer_t<detail::element_of<P>>>>;

namespace detail {

/// An integer as a double, rounded to odd: 64-bit integers are truncated to 53 bits, and the last
/// bit records lost ones. Rounding that to 16 bits gives the same result as rounding the integer.
template <class N>
SIXDAYS_TILE inline double whole_value(N x) {
    const bool negative = x < N{0};
    auto size = static_cast<unsigned long long>(x);
    if (negative) size = 0 - size;
    if (size >> 53 != 0) size = (size >> 11 | ((size & 0x7ff) != 0)) << 11;
    const auto value = static_cast<double>(size);
    return negative ? -value : value;
}

/// Converts one element, rounding to nearest, ties to even.
template <class To, class From>
SIXDAYS_TILE inline To converted(From x) {
    if constexpr (std::is_same_v<From, To>) {
        return x;
    } else if constexpr (std::is_same_v<From, __nv_tf32>) {
        return converted<To>(x.value);
    } else if constexpr (is_whole<From> && is_real<To> && sizeof(To) == 2) {
        return To(whole_value(x));
    } else if constexpr (std::is_same_v<To, __nv_tf32>) {
        float near = static_cast<float>(x);
        if constexpr (std::is_same_v<From, double> || is_whole<From>) {  // round to odd first
            double value;
            if constexpr (is_whole<From>) {
                value = whole_value(x);
            } else {
                value = x;
            }
            auto bits = __builtin_bit_cast(uint32_t, near);
            const double gone = value - static_cast<double>(near);
            if (gone != 0 && (bits & 1) == 0 && near - near == 0) {
                bits += (gone > 0) == (value > 0) ? 1u : ~uint32_t{0};
                near = __builtin_bit_cast(float, bits);
            }
        }
        const auto bits = __builtin_bit_cast(uint32_t, near);
        if ((bits & 0x7f800000u) == 0x7f800000u) return To{near};
        const uint32_t even = bits >> 13 & 1;  // keeps 10 of 23 bits
        return To{__builtin_bit_cast(float, (bits + 0xfffu + even) & ~0x1fffu)};
    } else {
        return static_cast<To>(x);
    }
}

}  // namespace detail

}  // namespace cuda::tiles
