/// @file
/// Reductions and scans along a dimension. A reduction keeps the dimension with length 1; a scan
/// gives each element the combination of all elements up to and including it. CUDA leaves the order
/// unspecified: here it is a tree, not sequential.
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

/// Combines each line along DIM with join(x, y).
template <std::size_t DIM, class R, class T, class Join>
SIXDAYS_TILE inline auto reduce(const T& t, const Join& join) {
    using S = tile_shape_t<T>;
    static_assert(DIM < S::rank(), "the tile has no such dimension");
    constexpr std::size_t kLength = S::static_extent(DIM), kStep = step_along<S, DIM>();
    R* const line = static_cast<R*>(sixdays::emulator::new_elements(kLength * sizeof(R)));
    auto result = tile<R, reduced_shape<S, DIM>>::made([&](std::size_t n) SIXDAYS_TILE {
        const std::size_t first = n / kStep * kStep * kLength + n % kStep;
        for (std::size_t i = 0; i < kLength; ++i) {
            line[i] = converted<R>(at(t, first + i * kStep));
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

namespace detail {
template <auto DIM, class T>
concept has_dim = DIM >= 0 && DIM < shape_of<T>::rank();
}

#define SIXDAYS_TOTAL(name, operation, op)                                                        \
    template <integral auto DIM, arithmetic_tile T>                                               \
    requires detail::has_dim<DIM, T> SIXDAYS_TILE inline auto name(const T& t,                    \
                                                                   integral_constant<DIM> = {}) { \
        using E = tile_element_t<T>;                                                              \
        return detail::reduce<DIM, E>(                                                            \
            t, [](E x, E y) SIXDAYS_TILE { return static_cast<E>(x op y); });                     \
    }                                                                                             \
    template <integral auto DIM, rounding_mode MODE,                                              \
              subnormals_rounding_mode SUB = detail::kPreserve, arithmetic_tile T>                \
    requires detail::has_dim<DIM, T> && detail::rounds_precisely<tile_element_t<T>, MODE, SUB>    \
        SIXDAYS_TILE inline auto name(const T& t, integral_constant<DIM>,                         \
                                      rounding_mode_constant<MODE>,                               \
                                      subnormals_rounding_mode_constant<SUB> = {}) {              \
        using E = tile_element_t<T>;                                                              \
        return detail::reduce<DIM, E>(t, [](E x, E y) SIXDAYS_TILE {                              \
            return detail::computed<MODE, SUB>(detail::Arithmetic::operation, x, y);              \
        });                                                                                       \
    }
SIXDAYS_TOTAL(sum, add, +)
SIXDAYS_TOTAL(prod, mul, *)
#undef SIXDAYS_TOTAL

/// A number wins over NaN, except with propagate_nan_t.
#define SIXDAYS_EXTREME(name, chosen)                                                             \
    template <integral auto DIM, nan_propagation_mode NAN_MODE,                                   \
              subnormals_rounding_mode SUB = detail::kPreserve, basic_floating_point_tile T>      \
    requires detail::has_dim<DIM, T> && detail::keeps_or_flushes<tile_element_t<T>, SUB>          \
        SIXDAYS_TILE inline auto name(const T& t, integral_constant<DIM>,                         \
                                      nan_propagation_mode_constant<NAN_MODE>,                    \
                                      subnormals_rounding_mode_constant<SUB> = {}) {              \
        using E = tile_element_t<T>;                                                              \
        return detail::reduce<DIM, E>(t, [](E x, E y) SIXDAYS_TILE {                              \
            constexpr bool kNanWins = NAN_MODE == nan_propagation_mode::propagate_nan;            \
            return detail::chosen(detail::subround<SUB>(x), detail::subround<SUB>(y), kNanWins);  \
        });                                                                                       \
    }                                                                                             \
    template <integral auto DIM, arithmetic_tile T>                                               \
    requires detail::has_dim<DIM, T> SIXDAYS_TILE inline auto name(const T& t,                    \
                                                                   integral_constant<DIM> = {}) { \
        using E = tile_element_t<T>;                                                              \
        return detail::reduce<DIM, E>(                                                            \
            t, [](E x, E y) SIXDAYS_TILE { return detail::chosen(x, y, false); });                \
    }
SIXDAYS_EXTREME(reduce_max, larger)
SIXDAYS_EXTREME(reduce_min, smaller)
#undef SIXDAYS_EXTREME

template <integral auto DIM, bool_tile_convertible T>
requires detail::has_dim<DIM, T> SIXDAYS_TILE inline auto all_of(const T& t,
                                                                 integral_constant<DIM> = {}) {
    return detail::reduce<DIM, bool>(t, [](bool x, bool y) SIXDAYS_TILE { return x && y; });
}
template <integral auto DIM, bool_tile_convertible T>
requires detail::has_dim<DIM, T> SIXDAYS_TILE inline auto any_of(const T& t,
                                                                 integral_constant<DIM> = {}) {
    return detail::reduce<DIM, bool>(t, [](bool x, bool y) SIXDAYS_TILE { return x || y; });
}

// --- scans -----------------------------------------------------------------------------------------
enum class scan_direction : unsigned char { forward, backward };
template <scan_direction DIRECTION>
struct scan_direction_constant : detail::Constant<DIRECTION> {};
using scan_forward_t = scan_direction_constant<scan_direction::forward>;
using scan_backward_t = scan_direction_constant<scan_direction::backward>;

namespace detail {
/// Inclusive scan of each line with join, forward or backward. Like lanes of a warp, it takes
/// log2(length) rounds: round k joins elements 2^k apart.
template <std::size_t DIM, scan_direction DIRECTION, class T, class Join>
SIXDAYS_TILE inline T scan(const T& t, const Join& join) {
    using S = shape_of<T>;
    using E = element_of<T>;
    constexpr std::size_t kLength = S::static_extent(DIM), kStep = step_along<S, DIM>();
    constexpr std::size_t kSize = shape_size<S>;
    E* const all = static_cast<E*>(sixdays::emulator::new_elements(kSize * sizeof(E)));
    for (std::size_t n = 0; n < kSize; ++n) all[n] = at(t, n);
    for (std::size_t apart = 1; apart < kLength; apart *= 2) {
        // Starts at the far end, so that the operands are those of the previous round.
        for (std::size_t n = 0; n < kSize; ++n) {
            const bool forward = DIRECTION == scan_direction::forward;
            const std::size_t to = forward ? kSize - 1 - n : n, place = to / kStep % kLength;
            if (forward ? place < apart : place + apart >= kLength) continue;
            const E other = all[forward ? to - apart * kStep : to + apart * kStep];
            all[to] = forward ? join(other, all[to]) : join(all[to], other);
        }
    }
    const T result = made<T>([&](std::size_t n) SIXDAYS_TILE { return all[n]; });
    sixdays::emulator::drop_elements(all);
    return result;
}
}  // namespace detail

#define SIXDAYS_SCAN(name, operation, op)                                                      \
    template <integral auto DIM, scan_direction DIRECTION = scan_direction::forward,           \
              arithmetic_tile T>                                                               \
    requires detail::has_dim<DIM, T> SIXDAYS_TILE inline T name(                               \
        const T& t, integral_constant<DIM> = {}, scan_direction_constant<DIRECTION> = {}) {    \
        using E = tile_element_t<T>;                                                           \
        return detail::scan<DIM, DIRECTION>(                                                   \
            t, [](E x, E y) SIXDAYS_TILE { return static_cast<E>(x op y); });                  \
    }                                                                                          \
    template <integral auto DIM, rounding_mode MODE,                                           \
              subnormals_rounding_mode SUB = detail::kPreserve,                                \
              scan_direction DIRECTION = scan_direction::forward, arithmetic_tile T>           \
    requires detail::has_dim<DIM, T> && detail::rounds_precisely<tile_element_t<T>, MODE, SUB> \
        SIXDAYS_TILE inline T name(const T& t, integral_constant<DIM>,                         \
                                   rounding_mode_constant<MODE>,                               \
                                   subnormals_rounding_mode_constant<SUB> = {},                \
                                   scan_direction_constant<DIRECTION> = {}) {                  \
        using E = tile_element_t<T>;                                                           \
        return detail::scan<DIM, DIRECTION>(t, [](E x, E y) SIXDAYS_TILE {                     \
            return detail::computed<MODE, SUB>(detail::Arithmetic::operation, x, y);           \
        });                                                                                    \
    }
SIXDAYS_SCAN(partial_sum, add, +)
SIXDAYS_SCAN(partial_prod, mul, *)
#undef SIXDAYS_SCAN

}  // namespace cuda::tiles
