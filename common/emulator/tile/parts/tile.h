/// @file
/// The tile itself: elements in row-major order. A scalar counts as a tile of rank 0.
#pragma once

#include "conversions.h"

namespace cuda::tiles {
namespace detail {

/// Base of constants such as round_toward_zero_t.
template <auto VALUE>
struct Constant {
    using value_type = decltype(VALUE);
    static constexpr value_type value = VALUE;
    SIXDAYS_TILE constexpr operator value_type() const noexcept { return VALUE; }
    SIXDAYS_TILE constexpr value_type operator()() const noexcept { return VALUE; }
};

/// The n-th element of a tile; of a scalar, the scalar itself.
template <class T>
SIXDAYS_TILE inline element_of<T> at(const T& t, std::size_t n) {
    if constexpr (is_tile<T>) {
        return t.elements()[n];
    } else {
        return t;
    }
}

}  // namespace detail

template <class E, class S>
class tile {
    static_assert(shape_like<S> && detail::powers_of_two<S>,
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

    /// Conversion from another element type; narrowing conversions must be explicit.
    template <class T>
    requires(tile_convertible_to<T, tile> && !std::is_same_v<T, tile>) SIXDAYS_TILE
        explicit(!non_narrowing_tile_convertible_to<T, tile>) tile(const T& other)
        : tile(made([&](std::size_t n)
                        SIXDAYS_TILE { return detail::converted<E>(detail::at(other, n)); })) {}
    template <class N>
    requires(kSize == 1 && scalar_convertible_to<E, N>) SIXDAYS_TILE explicit operator N() const {
        return detail::converted<N>(elements()[0]);
    }

    /// Creates a tile whose n-th element is of(n).
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

template <class E>
requires scalar<E> tile(E)
->tile<E, shape<>>;

namespace detail {
/// Creates a tile or a scalar whose n-th element is of(n).
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
