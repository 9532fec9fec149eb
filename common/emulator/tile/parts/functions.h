/// @file
/// Creation and reshaping of tiles.
#pragma once

#include "elementwise.h"

namespace cuda::tiles {

template <class T>
SIXDAYS_TILE inline T full(tile_element_t<T> value) {
    return detail::made<T>([&](std::size_t) SIXDAYS_TILE { return value; });
}
template <class T>
SIXDAYS_TILE inline T zeros() {
    return full<T>(detail::converted<tile_element_t<T>>(0));
}
template <class T>
SIXDAYS_TILE inline T ones() {
    return full<T>(detail::converted<tile_element_t<T>>(1));
}
/// 0, 1, 2, ... in row-major order.
template <class T>
SIXDAYS_TILE inline T iota() {
    return detail::made<T>([](std::size_t n)
                               SIXDAYS_TILE { return static_cast<tile_element_t<T>>(n); });
}

template <class Shape, class T>
SIXDAYS_TILE inline auto reshape(const T& t, Shape = {}) {
    using R = tile<tile_element_t<T>, Shape>;
    static_assert(detail::shape_size<Shape> == detail::shape_size<tile_shape_t<T>>,
                  "reshape keeps the number of elements");
    return R::made([&](std::size_t n) SIXDAYS_TILE { return detail::at(t, n); });
}
/// Repeats dimensions of length 1; other lengths must match.
template <tile_shape Shape, tile_like T>
requires broadcastable_to<T, Shape> SIXDAYS_TILE inline auto broadcast(const T& t, Shape = {}) {
    using R = tile<tile_element_t<T>, Shape>;
    return R::made([&](std::size_t n) SIXDAYS_TILE {
        return detail::at(t, detail::place<tile_shape_t<T>, Shape>(n));
    });
}

/// For permute: dimension d of the result is dimension D[d] of the argument.
template <std::size_t... D>
struct dimension_map {
    constexpr dimension_map() noexcept = default;
    template <class... T>
    requires(sizeof...(T) > 0) constexpr explicit dimension_map(T...) noexcept {}
};
template <auto... V>
dimension_map(integral_constant<V>...) -> dimension_map<static_cast<std::size_t>(V)...>;

namespace detail {
template <std::size_t... D, class T>
SIXDAYS_TILE inline auto permuted(const T& t, dimension_map<D...>) {
    using From = lengths_of<tile_shape_t<T>>;
    using R = tile<tile_element_t<T>, shape<From::value[D]...>>;
    using To = lengths_of<tile_shape_t<R>>;
    return R::made([&](std::size_t n) SIXDAYS_TILE {
        constexpr std::size_t kMap[] = {D...};
        std::size_t index[sizeof...(D)];
        for (std::size_t d = sizeof...(D); d-- > 0; n /= To::value[d]) {
            index[kMap[d]] = n % To::value[d];
        }
        std::size_t from = 0;
        for (std::size_t d = 0; d < sizeof...(D); ++d) from = from * From::value[d] + index[d];
        return at(t, from);
    });
}
}  // namespace detail
template <class Map, class T>
SIXDAYS_TILE inline auto permute(const T& t, Map map = {}) {
    return detail::permuted(t, map);
}
/// Swaps the first two dimensions.
template <class T>
SIXDAYS_TILE inline auto transpose(const T& t) {
    constexpr std::size_t kRank = detail::lengths_of<tile_shape_t<T>>::rank;
    return [&]<std::size_t... D>(std::index_sequence<D...>) SIXDAYS_TILE {
        return detail::permuted(t, dimension_map<(D < 2 ? 1 - D : D)...>{});
    }
    (std::make_index_sequence<kRank>{});
}
namespace detail {
template <std::size_t DIM, std::size_t... D, class T>
SIXDAYS_TILE inline auto cat(const T& first, const T& second, std::index_sequence<D...>) {
    using From = lengths_of<tile_shape_t<T>>;
    using R = tile<tile_element_t<T>, shape<(D == DIM ? 2 * From::value[D] : From::value[D])...>>;
    std::size_t behind = 1;
    for (std::size_t d = DIM; d < From::rank; ++d) behind *= From::value[d];
    return R::made([&](std::size_t n) SIXDAYS_TILE {
        const std::size_t part = n / behind, from = part / 2 * behind + n % behind;
        return at(part % 2 == 0 ? first : second, from);
    });
}
}  // namespace detail
/// Concatenates two tiles of the same shape along a dimension.
template <integral auto DIM, class T>
SIXDAYS_TILE inline auto cat(const T& first, const T& second, integral_constant<DIM> = {}) {
    constexpr auto kDim = static_cast<std::size_t>(DIM);
    constexpr std::size_t kRank = detail::lengths_of<tile_shape_t<T>>::rank;
    return detail::cat<kDim>(first, second, std::make_index_sequence<kRank>{});
}

}  // namespace cuda::tiles
