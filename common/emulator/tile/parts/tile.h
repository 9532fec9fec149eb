/// @file
/// The tile itself: elements in row-major order. A number counts as a tile of rank 0.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "shapes.h"

struct __nv_tf32;  // cuda_tf32.h has it

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

template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
template <class T>
inline constexpr bool is_number = std::is_integral_v<T> || is_real<T>;

/// E in the shape of T: a tile, or a number if T is one.
template <class T, class E>
struct with_element {
    using type = E;
};
template <class T, class S, class E>
struct with_element<tile<T, S>, E> {
    using type = tile<E, S>;
};

/// Is something lost from From to To? Integer to float may be, and is allowed in arithmetic.
template <class From, class To>
consteval bool narrows() {
    if constexpr (std::is_same_v<From, To>) {
        return false;
    } else if constexpr (is_real<From> && is_real<To>) {
        return sizeof(From) >= sizeof(To);
    } else if constexpr (is_real<From> && std::is_integral_v<To>) {
        return true;
    } else if constexpr (std::is_integral_v<From> && is_real<To>) {
        return false;
    } else {
        return !requires(From x) {
            To{x};
        };
    }
}

/// The n-th element of a tile of this shape, and a number everywhere.
template <class T>
SIXDAYS_TILE inline element_of<T> at(const T& t, std::size_t n) {
    if constexpr (is_tile<T>) {
        return t.elements()[n];
    } else {
        return t;
    }
}

// --- broadcasting --------------------------------------------------------------------------------
constexpr std::size_t length_from_end(const std::size_t* lengths, std::size_t rank, std::size_t d) {
    return d < rank ? lengths[rank - 1 - d] : 1;
}
template <class S>
struct lengths_of;
template <std::size_t... N>
struct lengths_of<shape<N...>> {
    static constexpr std::size_t rank = sizeof...(N);
    static constexpr std::size_t value[rank + 1] = {N..., 0};
};
template <class A, class B>
consteval bool broadcasts() {
    using L = lengths_of<A>;
    using R = lengths_of<B>;
    for (std::size_t d = 0; d < L::rank && d < R::rank; ++d) {
        const std::size_t a = length_from_end(L::value, L::rank, d);
        const std::size_t b = length_from_end(R::value, R::rank, d);
        if (a != b && a != 1 && b != 1) return false;
    }
    return true;
}
template <class A, class B, std::size_t... D>
auto both_shapes(std::index_sequence<D...>) {
    using L = lengths_of<A>;
    using R = lengths_of<B>;
    constexpr auto longer = [](std::size_t d) {
        const std::size_t a = length_from_end(L::value, L::rank, sizeof...(D) - 1 - d);
        const std::size_t b = length_from_end(R::value, R::rank, sizeof...(D) - 1 - d);
        return a == 1 ? b : a;
    };
    return shape<longer(D)...>{};
}
template <class A, class B>
using broadcast_shape = decltype(both_shapes<A, B>(
    std::make_index_sequence<(lengths_of<A>::rank > lengths_of<B>::rank ? lengths_of<A>::rank
                                                                        : lengths_of<B>::rank)>()));
/// Which element of a tile of shape FROM stands at place n of shape TO.
template <class FROM, class TO>
SIXDAYS_TILE inline std::size_t place(std::size_t n) {
    if constexpr (std::is_same_v<FROM, TO>) {
        return n;
    } else if constexpr (shape_size<FROM> == 1) {
        return 0;
    } else {
        using F = lengths_of<FROM>;
        using T = lengths_of<TO>;
        std::size_t result = 0, stride = 1;
        for (std::size_t d = 0; d < F::rank; ++d) {
            const std::size_t from = length_from_end(F::value, F::rank, d);
            const std::size_t to = length_from_end(T::value, T::rank, d);
            if (from != 1) result += n % to * stride;
            stride *= from;
            n /= to;
        }
        return result;
    }
}

}  // namespace detail

template <class T>
using tile_element_t = detail::element_of<T>;
template <class T>
using tile_shape_t = detail::shape_of<T>;
template <class T, class E>
using tile_with_element_t = typename detail::with_element<std::remove_cvref_t<T>, E>::type;

template <class E, class S>
class tile {
    static_assert(detail::powers_of_two<S>,
                  "the lengths of a tile are powers of two: take the next larger one, and mask "
                  "what lies outside (load_masked, store_masked)");

public:
    using element_type = E;
    using shape_type = S;
    using index_type = uint32_t;
    static constexpr std::size_t kSize = detail::shape_size<S>;

    SIXDAYS_TILE tile() noexcept {}
    SIXDAYS_TILE tile(const tile& other) noexcept : e_(other.e_) { share(); }
    SIXDAYS_TILE tile(tile&& other) noexcept : e_(other.e_) { other.e_ = nullptr; }
    SIXDAYS_TILE tile& operator=(const tile& other) noexcept {
        E* const old = e_;
        e_ = other.e_;
        share();
        drop(old);
        return *this;
    }
    SIXDAYS_TILE ~tile() { drop(e_); }

    /// Of the same shape, in other numbers; what may lose something wants to be asked for.
    template <class T>
    requires(detail::is_tile<T> && !std::is_same_v<T, tile> &&
             std::is_same_v<detail::shape_of<T>, S>) SIXDAYS_TILE
        explicit(detail::narrows<detail::element_of<T>, E>() ||
                 (std::is_integral_v<detail::element_of<T>> && detail::is_real<E>))
            tile(const T& other)
        : tile(made([&](std::size_t n)
                        SIXDAYS_TILE { return static_cast<E>(detail::at(other, n)); })) {}
    /// A number, as a tile of one element.
    SIXDAYS_TILE tile(E value) noexcept requires(kSize == 1 && S::rank() == 0)
        : tile(made([&](std::size_t) SIXDAYS_TILE { return value; })) {}
    template <class N>
    requires(kSize == 1 && detail::is_number<N>) SIXDAYS_TILE explicit operator N() const {
        return static_cast<N>(elements()[0]);
    }

    /// The tile whose n-th element is of(n).
    template <class Of>
    SIXDAYS_TILE static tile made(const Of& of) {
        tile t;
        t.e_ = static_cast<E*>(sixdays::emulator::new_elements(kSize * sizeof(E)));
        for (std::size_t n = 0; n < kSize; ++n) t.e_[n] = of(n);
        return t;
    }
    SIXDAYS_TILE const E* elements() const {
        if (e_ == nullptr) sixdays::emulator::fail_unset_tile(SIXDAYS_TILE_CODE);
        return e_;
    }

private:
    SIXDAYS_TILE void share() const noexcept {
        if (e_ != nullptr) sixdays::emulator::share_elements(e_);
    }
    SIXDAYS_TILE static void drop(E* e) noexcept {
        if (e != nullptr) sixdays::emulator::drop_elements(e);
    }
    E* e_ = nullptr;
};

namespace detail {
/// The tile, or the number, whose n-th element is of(n).
template <class T, class Of>
SIXDAYS_TILE inline T made(const Of& of) {
    if constexpr (is_tile<T>) {
        return T::made(of);
    } else {
        return of(0);
    }
}
}  // namespace detail

}  // namespace cuda::tiles
