/// @file
/// Block index, loops, promises, and loads and stores through tiles of addresses.
#pragma once

#include "elementwise.h"

namespace cuda::tiles {

SIXDAYS_TILE inline uint3 bid() noexcept {
    return blockIdx;
}
SIXDAYS_TILE inline dim3 num_blocks() noexcept {
    return {gridDim.x, gridDim.y, gridDim.z};
}

/// first, first + step, ... up to but excluding last: a loop that the tile compiler recognizes.
template <integral T>
struct irange {
    struct iterator {
        T value, step;
        SIXDAYS_TILE constexpr T operator*() const noexcept { return value; }
        SIXDAYS_TILE constexpr iterator& operator++() noexcept {
            value = static_cast<T>(value + step);
            return *this;
        }
        SIXDAYS_TILE constexpr bool operator==(T last) const noexcept { return value >= last; }
    };
    SIXDAYS_TILE constexpr irange(T first, T last, T step = 1) noexcept
        : first_(first), last_(last), step_(step) {}
    SIXDAYS_TILE constexpr iterator begin() const noexcept { return {first_, step_}; }
    SIXDAYS_TILE constexpr T end() const noexcept { return last_; }

private:
    T first_, last_, step_;
};
template <class A, class B>
irange(A, B) -> irange<detail::common_type<A, B>>;
template <class A, class B, class C>
irange(A, B, C) -> irange<detail::common_type<detail::common_type<A, B>, C>>;

// --- promises: a GPU does not check them ---------------------------------------------------------
namespace detail {
template <class T, class Holds>
SIXDAYS_TILE inline void check_promise(const T& t, const Holds& holds, const char* what,
                                       const char* promise, long long number, const void* code) {
    for (std::size_t n = 0; n < shape_size<shape_of<T>>; ++n) {
        long long value;
        if constexpr (std::is_pointer_v<element_of<T>>) {
            value = static_cast<long long>(reinterpret_cast<std::uintptr_t>(at(t, n)));
        } else {
            value = static_cast<long long>(at(t, n));
        }
        if (!holds(value)) sixdays::emulator::fail_promise(what, value, promise, number, code);
    }
}
}  // namespace detail

template <integral auto BYTES, class T>
[[nodiscard, gnu::noinline]] SIXDAYS_TILE inline T assume_aligned(T pointer,
                                                                  integral_constant<BYTES> = {}) {
    static_assert(BYTES > 0 && (BYTES & (BYTES - 1)) == 0, "alignments are powers of two");
    detail::check_promise(
        pointer, [](long long v) SIXDAYS_TILE { return v % BYTES == 0; }, "the address",
        "divisible by", BYTES, SIXDAYS_TILE_CODE);
    return pointer;
}
template <integral auto DIVISOR, class T>
[[nodiscard, gnu::noinline]] SIXDAYS_TILE inline T assume_divisible(
    T value, integral_constant<DIVISOR> = {}) {
    static_assert(DIVISOR > 0 && (DIVISOR & (DIVISOR - 1)) == 0, "divisors are powers of two");
    detail::check_promise(
        value, [](long long v) SIXDAYS_TILE { return v % DIVISOR == 0; }, "the number",
        "divisible by", DIVISOR, SIXDAYS_TILE_CODE);
    return value;
}
template <integral auto LEAST, integral auto MOST, class T>
[[nodiscard, gnu::noinline]] SIXDAYS_TILE inline T assume_bounded(T value,
                                                                  integral_constant<LEAST> = {},
                                                                  integral_constant<MOST> = {}) {
    detail::check_promise(
        value, [](long long v) SIXDAYS_TILE { return v >= LEAST; }, "the number", "at least", LEAST,
        SIXDAYS_TILE_CODE);
    detail::check_promise(
        value, [](long long v) SIXDAYS_TILE { return v <= MOST; }, "the number", "at most", MOST,
        SIXDAYS_TILE_CODE);
    return value;
}
template <integral auto LEAST, class T>
[[nodiscard, gnu::noinline]] SIXDAYS_TILE inline T assume_bounded_below(
    T value, integral_constant<LEAST> = {}) {
    detail::check_promise(
        value, [](long long v) SIXDAYS_TILE { return v >= LEAST; }, "the number", "at least", LEAST,
        SIXDAYS_TILE_CODE);
    return value;
}
template <integral auto MOST, class T>
[[nodiscard, gnu::noinline]] SIXDAYS_TILE inline T assume_bounded_above(
    T value, integral_constant<MOST> = {}) {
    detail::check_promise(
        value, [](long long v) SIXDAYS_TILE { return v <= MOST; }, "the number", "at most", MOST,
        SIXDAYS_TILE_CODE);
    return value;
}

// --- tiles of addresses ----------------------------------------------------------------------------
namespace detail {

template <class P>
using pointed = std::remove_cv_t<std::remove_pointer_t<element_of<P>>>;

template <class E>
SIXDAYS_TILE inline E zero() {
    if constexpr (std::is_pointer_v<E>)
        return nullptr;
    else
        return converted<E>(0);
}
template <class E>
SIXDAYS_TILE inline E loaded(const E* p, const void* code) {
    sixdays::emulator::read_element(p, sizeof(E), code);
    return *p;
}
template <class E>
SIXDAYS_TILE inline void stored(E* p, E value, const void* code) {
    sixdays::emulator::write_element(p, sizeof(E), code);
    *p = value;
}

template <class P, class M, class V>
SIXDAYS_TILE inline auto gather(const P& pointers, const M& mask, const V& padding,
                                const void* code) {
    using E = pointed<P>;
    using S = shape_of<P>;
    return made<tile_load_t<P>>([&](std::size_t n) SIXDAYS_TILE {
        if (!converted<bool>(at(mask, place<shape_of<M>, S>(n)))) {
            return converted<E>(at(padding, place<shape_of<V>, S>(n)));
        }
        return loaded<E>(at(pointers, n), code);
    });
}
template <class P, class V, class M>
SIXDAYS_TILE inline void scatter(const P& pointers, const V& values, const M& mask,
                                 const void* code) {
    using E = pointed<P>;
    using S = shape_of<P>;
    constexpr std::size_t kSize = shape_size<S>;
    const void** targets =
        static_cast<const void**>(sixdays::emulator::new_elements(kSize * sizeof(void*)));
    std::size_t count = 0;
    for (std::size_t n = 0; n < kSize; ++n) {
        if (!converted<bool>(at(mask, place<shape_of<M>, S>(n)))) continue;
        targets[count++] = at(pointers, n);
        stored<E>(at(pointers, n), converted<E>(at(values, n)), code);
    }
    sixdays::emulator::check_distinct(targets, count, code);
    sixdays::emulator::drop_elements(targets);
}

/// A mask for the addresses P: which elements are active.
template <class M, class P>
concept mask_of = bool_tile_convertible<M> && broadcastable_to<M, shape_of<P>>;
/// Values that can be stored through the addresses P.
template <class V, class P>
concept values_of = storeable_tile<P> && non_narrowing_tile_convertible_to<V, tile_load_t<P>>;
/// The value of masked-off elements.
template <class V, class P>
concept padding_of = broadcastable_to<V, shape_of<P>> &&
    non_narrowing_scalar_convertible_to<element_of<V>, pointed<P>>;

}  // namespace detail

template <loadable_tile P>
[[gnu::noinline]] SIXDAYS_TILE inline auto load(const P& pointers) {
    return detail::gather(pointers, true, detail::pointed<P>(), SIXDAYS_TILE_CODE);
}
template <loadable_tile P, detail::mask_of<P> M>
[[gnu::noinline]] SIXDAYS_TILE inline auto load_masked(const P& pointers, const M& mask) {
    return detail::gather(pointers, mask, detail::zero<detail::pointed<P>>(), SIXDAYS_TILE_CODE);
}
template <loadable_tile P, detail::mask_of<P> M, detail::padding_of<P> V>
[[gnu::noinline]] SIXDAYS_TILE inline auto load_masked(const P& pointers, const M& mask,
                                                       const V& padding) {
    return detail::gather(pointers, mask, padding, SIXDAYS_TILE_CODE);
}
template <storeable_tile P, detail::values_of<P> V>
[[gnu::noinline]] SIXDAYS_TILE inline void store(const P& pointers, const V& values) {
    detail::scatter(pointers, values, true, SIXDAYS_TILE_CODE);
}
template <storeable_tile P, detail::values_of<P> V, detail::mask_of<P> M>
[[gnu::noinline]] SIXDAYS_TILE inline void store_masked(const P& pointers, const V& values,
                                                        const M& mask) {
    detail::scatter(pointers, values, mask, SIXDAYS_TILE_CODE);
}

}  // namespace cuda::tiles
