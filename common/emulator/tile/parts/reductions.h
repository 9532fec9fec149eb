/// @file
/// Many elements along a dim become one; the dim stays, with length 1. In which order they meet, CUDA
/// does not say: here halves are joined, as a tree.
#pragma once

#include "elementwise.h"

namespace cuda::tiles {
namespace detail {

template <class S, std::size_t DIM, class D = std::make_index_sequence<S::rank()>>
struct reduced;
template <class S, std::size_t DIM, std::size_t... D>
struct reduced<S, DIM, std::index_sequence<D...>> {
    using type = shape<(D == DIM ? 1 : S::static_extent(D))...>;
};
template <class S, std::size_t DIM>
using reduced_shape = typename reduced<S, DIM>::type;

template <class S, std::size_t DIM>
consteval std::size_t step_along() {
    std::size_t step = 1;
    for (std::size_t d = DIM + 1; d < S::rank(); ++d) step *= S::static_extent(d);
    return step;
}

/// join(x, y) along DIM, for every line.
template <std::size_t DIM, class R, class T, class Join>
SIXDAYS_TILE inline auto reduce(const T& t, const Join& join) {
    using S = tile_shape_t<T>;
    static_assert(DIM < S::rank(), "the tile has no such dim");
    constexpr std::size_t kLength = S::static_extent(DIM), kStep = step_along<S, DIM>();
    R* const line = static_cast<R*>(sixdays::emulator::new_elements(kLength * sizeof(R)));
    auto result = tile<R, reduced_shape<S, DIM>>::made([&](std::size_t n) SIXDAYS_TILE {
        const std::size_t first = n / kStep * kStep * kLength + n % kStep;
        for (std::size_t i = 0; i < kLength; ++i) {
            line[i] = static_cast<R>(at(t, first + i * kStep));
        }
        for (std::size_t middle = kLength / 2; middle > 0; middle /= 2) {
            for (std::size_t i = 0; i < middle; ++i) line[i] = join(line[i], line[i + middle]);
        }
        return line[0];
    });
    sixdays::emulator::drop_elements(line);
    return result;
}

}  // namespace detail

template <integral auto DIM, class T, class... How>
SIXDAYS_TILE inline auto sum(const T& t, integral_constant<DIM> = {}, How...) {
    using E = tile_element_t<T>;
    return detail::reduce<DIM, E>(t, [](E x, E y) SIXDAYS_TILE { return static_cast<E>(x + y); });
}
template <integral auto DIM, class T, class... How>
SIXDAYS_TILE inline auto prod(const T& t, integral_constant<DIM> = {}, How...) {
    using E = tile_element_t<T>;
    return detail::reduce<DIM, E>(t, [](E x, E y) SIXDAYS_TILE { return static_cast<E>(x * y); });
}
/// Of a number and NaN the number wins, unless propagate_nan_t says otherwise.
template <integral auto DIM, class T, class... How>
SIXDAYS_TILE inline auto reduce_max(const T& t, integral_constant<DIM> = {}, How...) {
    using E = tile_element_t<T>;
    return detail::reduce<DIM, E>(
        t, [](E x, E y) SIXDAYS_TILE { return detail::larger(x, y, detail::nan_wins<How...>); });
}
template <integral auto DIM, class T, class... How>
SIXDAYS_TILE inline auto reduce_min(const T& t, integral_constant<DIM> = {}, How...) {
    using E = tile_element_t<T>;
    return detail::reduce<DIM, E>(
        t, [](E x, E y) SIXDAYS_TILE { return detail::smaller(x, y, detail::nan_wins<How...>); });
}
template <integral auto DIM, class T>
SIXDAYS_TILE inline auto all_of(const T& t, integral_constant<DIM> = {}) {
    return detail::reduce<DIM, bool>(t, [](bool x, bool y) SIXDAYS_TILE { return x && y; });
}
template <integral auto DIM, class T>
SIXDAYS_TILE inline auto any_of(const T& t, integral_constant<DIM> = {}) {
    return detail::reduce<DIM, bool>(t, [](bool x, bool y) SIXDAYS_TILE { return x || y; });
}

}  // namespace cuda::tiles
