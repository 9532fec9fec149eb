/// @file
/// Matrix products of tiles. A GPU uses tensor cores for 16-bit floats, tf32 and 8-bit integers.
/// float is not rounded to tf32.
#pragma once

#include "functions.h"

namespace cuda::tiles {
namespace detail {

/// A factor as it is multiplied: small types convert to float exactly. TF32 has 10 fraction bits,
/// whether it was cast or loaded from memory.
template <class T>
SIXDAYS_TILE inline auto factor(T x) {
    if constexpr (std::is_same_v<T, __nv_tf32>) {
        return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x.value) & ~0x1fffu);
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<int>(x);
    } else if constexpr (std::is_same_v<T, double>) {
        return x;
    } else {
        return static_cast<float>(x);
    }
}

template <class L, class A>
inline constexpr bool may_sum = (std::is_same_v<L, double> && std::is_same_v<A, double>) ||
                                (std::is_integral_v<L> && sizeof(L) == 1 &&
                                 std::is_same_v<A, int>) ||
                                (!std::is_integral_v<L> && !std::is_same_v<L, double> &&
                                 std::is_same_v<A, float>) ||
                                (std::is_same_v<L, __half> && std::is_same_v<A, __half>);

}  // namespace detail

/// lhs * rhs + acc: (M, K) times (K, N), or batched, (B, M, K) times (B, K, N). Sums run
/// sequentially along K, rounded at each step.
template <class L, class R, class A>
SIXDAYS_TILE inline A mma(const L& lhs, const R& rhs, const A& acc) {
    using SL = tile_shape_t<L>;
    using SR = tile_shape_t<R>;
    using SA = tile_shape_t<A>;
    constexpr std::size_t kRank = SA::rank(), kFirst = kRank == 3 ? 1 : 0;
    static_assert((kRank == 2 || kRank == 3) && SL::rank() == kRank && SR::rank() == kRank,
                  "mma takes three matrices, or three stacks of them");
    constexpr std::size_t M = SA::static_extent(kFirst), N = SA::static_extent(kFirst + 1),
                          K = SL::static_extent(kFirst + 1);
    static_assert(SL::static_extent(kFirst) == M && SR::static_extent(kFirst) == K &&
                      SR::static_extent(kFirst + 1) == N,
                  "mma takes (M, K) times (K, N) to (M, N)");
    static_assert(detail::may_sum<tile_element_t<L>, tile_element_t<A>>,
                  "mma cannot add products of these elements to sums of those");
    using E = tile_element_t<A>;
    return detail::made<A>([&](std::size_t n) SIXDAYS_TILE {
        const std::size_t stack = n / (M * N), i = n / N % M, j = n % N;
        const std::size_t left = detail::shape_size<SL> == M * K ? 0 : stack * M * K;
        const std::size_t right = detail::shape_size<SR> == K * N ? 0 : stack * K * N;
        const auto* l = lhs.elements() + left + i * K;
        const auto* r = rhs.elements() + right + j;
        if constexpr (std::is_integral_v<E>) {
            E total = acc.elements()[n];
            for (std::size_t k = 0; k < K; ++k) {
                total += detail::factor(l[k]) * detail::factor(r[k * N]);
            }
            return total;
        } else {
            using Wide = detail::wide<E>;
            Wide total = static_cast<Wide>(acc.elements()[n]);
            for (std::size_t k = 0; k < K; ++k) {
                total = std::fma(static_cast<Wide>(detail::factor(l[k])),
                                 static_cast<Wide>(detail::factor(r[k * N])), total);
            }
            return static_cast<E>(total);
        }
    });
}

namespace detail {
template <class E>
auto sum_type() {
    if constexpr (std::is_integral_v<E>) {
        return int{};
    } else if constexpr (std::is_same_v<E, __half> || std::is_same_v<E, double>) {
        return E{};
    } else {
        return float{};
    }
}
}  // namespace detail
template <class L, class R>
SIXDAYS_TILE inline auto matmul(const L& lhs, const R& rhs) {
    using SL = tile_shape_t<L>;
    using SR = tile_shape_t<R>;
    using E = decltype(detail::sum_type<tile_element_t<L>>());
    if constexpr (SL::rank() == 2) {
        return mma(lhs, rhs, zeros<tile<E, shape<SL::static_extent(0), SR::static_extent(1)>>>());
    } else {
        constexpr std::size_t kStack = SL::static_extent(0) > SR::static_extent(0)
                                           ? SL::static_extent(0)
                                           : SR::static_extent(0);
        using S = shape<kStack, SL::static_extent(1), SR::static_extent(2)>;
        return mma(lhs, rhs, zeros<tile<E, S>>());
    }
}

}  // namespace cuda::tiles
