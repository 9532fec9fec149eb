/// @file
/// Compile-time constants, extents, strides, and spans: memory with a shape.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "common/emulator/tile/tile.hpp"

namespace cuda::tiles {

using std::int32_t, std::int64_t, std::uint32_t, std::uint64_t;

template <class T>
concept integral = std::is_integral_v<T>;

// --- 16_ic ---------------------------------------------------------------------------------------
namespace detail {
/// Lets g++ deduce lengths for an alias template: shape{8_ic}.
template <std::size_t N>
struct Known {};
}  // namespace detail
template <integral auto VALUE>
struct integral_constant : detail::Known<static_cast<std::size_t>(VALUE)> {
    using value_type = decltype(VALUE);
    static constexpr value_type value = VALUE;
    SIXDAYS_TILE constexpr operator value_type() const noexcept { return VALUE; }
    SIXDAYS_TILE constexpr value_type operator()() const noexcept { return VALUE; }
};

namespace detail {
template <char... DIGITS>
consteval long long number() {
    long long value = 0;
    ((value = DIGITS == '\'' ? value : value * 10 + (DIGITS - '0')), ...);
    return value;
}
template <class T>
inline constexpr bool is_constant = false;
template <auto V>
inline constexpr bool is_constant<integral_constant<V>> = true;
}  // namespace detail

namespace literals {
template <char... DIGITS>
constexpr auto operator""_ic() noexcept {
    constexpr long long kValue = detail::number<DIGITS...>();
    if constexpr (kValue <= INT32_MAX) {
        return integral_constant<static_cast<int>(kValue)>{};
    } else {
        return integral_constant<static_cast<long>(kValue)>{};
    }
}
}  // namespace literals

#define SIXDAYS_CONSTANTS(op)                                                          \
    template <auto X, auto Y>                                                          \
    constexpr integral_constant<(X op Y)> operator op(integral_constant<X>,            \
                                                      integral_constant<Y>) noexcept { \
        return {};                                                                     \
    }
SIXDAYS_CONSTANTS(+)
SIXDAYS_CONSTANTS(-)
SIXDAYS_CONSTANTS(*)
SIXDAYS_CONSTANTS(/)
SIXDAYS_CONSTANTS(%)
#undef SIXDAYS_CONSTANTS

// --- extents and strides -------------------------------------------------------------------------
enum dynamic_extent_type : std::size_t { dynamic_extent = static_cast<std::size_t>(-1) };
enum dynamic_stride_type : std::size_t { dynamic_stride = static_cast<std::size_t>(-1) };

namespace detail {
constexpr std::size_t kDynamic = static_cast<std::size_t>(-1);
template <class T>
inline constexpr std::size_t value_or_dynamic = kDynamic;
template <auto V>
inline constexpr std::size_t value_or_dynamic<integral_constant<V>> = static_cast<std::size_t>(V);

/// Extents or strides, of which some are compile-time constants.
template <class Index, std::size_t... N>
struct Numbers {
    static constexpr std::size_t kRank = sizeof...(N);
    static constexpr std::size_t kDynamicOnes = ((N == kDynamic) + ... + 0);
    static constexpr std::size_t kStatic[kRank + 1] = {N..., 0};
    Index value[kRank + 1];

    SIXDAYS_TILE constexpr Numbers() noexcept : value{static_cast<Index>(N)..., Index{}} {
        static_assert(kDynamicOnes == 0 || kRank > 0);
    }
    /// Takes all values, or only the dynamic ones.
    template <class... T>
    SIXDAYS_TILE constexpr explicit Numbers(int, T... given) noexcept
        : value{static_cast<Index>(N)..., Index{}} {
        static_assert(sizeof...(T) == kRank || sizeof...(T) == kDynamicOnes,
                      "give every length, or those that the type leaves open");
        const Index all[] = {static_cast<Index>(given)...};
        std::size_t next = 0;
        for (std::size_t d = 0; d < kRank; ++d) {
            if (sizeof...(T) == kRank) {
                value[d] = kStatic[d] == kDynamic ? all[d] : value[d];
            } else if (kStatic[d] == kDynamic) {
                value[d] = all[next++];
            }
        }
    }
};
}  // namespace detail

template <integral Index, std::size_t... N>
struct extents {
    using index_type = Index;
    using rank_type = std::size_t;
    SIXDAYS_TILE static constexpr rank_type rank() noexcept { return sizeof...(N); }
    SIXDAYS_TILE static constexpr rank_type rank_dynamic() noexcept { return All::kDynamicOnes; }
    SIXDAYS_TILE static constexpr std::size_t static_extent(rank_type d) noexcept {
        return All::kStatic[d];
    }
    SIXDAYS_TILE constexpr Index extent(rank_type d) const noexcept { return all_.value[d]; }

    constexpr extents() noexcept = default;
    /// Takes all values, or only the dynamic ones.
    template <class... T>
    requires(sizeof...(T) > 0 &&
             (sizeof...(T) == sizeof...(N) ||
              sizeof...(T) == ((N == detail::kDynamic) + ... + 0)) &&
             (std::is_convertible_v<T, Index> && ...)) SIXDAYS_TILE
        constexpr explicit extents(T... given) noexcept
        : all_(0, given...) {}
    constexpr explicit extents(detail::Known<N>...) noexcept requires(sizeof...(N) > 0) {}

private:
    using All = detail::Numbers<Index, N...>;
    All all_;
};
template <class... T>
extents(T...) -> extents<uint32_t, detail::value_or_dynamic<std::remove_cv_t<T>>...>;

template <integral Index, std::size_t... N>
struct strides {
    using stride_type = Index;
    using rank_type = std::size_t;
    SIXDAYS_TILE static constexpr rank_type rank() noexcept { return sizeof...(N); }
    SIXDAYS_TILE static constexpr rank_type rank_dynamic() noexcept { return All::kDynamicOnes; }
    SIXDAYS_TILE static constexpr std::size_t static_stride(rank_type d) noexcept {
        return All::kStatic[d];
    }
    SIXDAYS_TILE constexpr Index stride(rank_type d) const noexcept { return all_.value[d]; }

    constexpr strides() noexcept = default;
    template <class... T>
    requires(sizeof...(T) > 0) SIXDAYS_TILE constexpr explicit strides(T... given) noexcept
        : all_(0, given...) {}

private:
    using All = detail::Numbers<Index, N...>;
    All all_;
};
template <class... T>
strides(T...) -> strides<uint32_t, detail::value_or_dynamic<std::remove_cv_t<T>>...>;

/// Static extents, as a tile has.
template <std::size_t... N>
using shape = extents<uint32_t, N...>;

/// Accepts any type with the interface of `extents`, from any library.
template <class E>
concept extents_like = requires(const std::remove_cv_t<E>& e, std::size_t d) {
    typename E::index_type;
    typename E::rank_type;
    E::rank_dynamic();
    { E::static_extent(d) } -> std::same_as<std::size_t>;
    { e.extent(d) } -> std::same_as<typename E::index_type>;
    E::rank();
};

namespace detail {
template <class S>
inline constexpr std::size_t shape_size = 0;
template <class I, std::size_t... N>
inline constexpr std::size_t shape_size<extents<I, N...>> = (std::size_t{1} * ... * N);
template <class S>
inline constexpr bool powers_of_two = false;
template <std::size_t... N>
inline constexpr bool powers_of_two<shape<N...>> =
    ((N != kDynamic && N != 0 && (N & (N - 1)) == 0) && ...);

/// The list N as an array.
template <std::size_t... N>
struct List {
    static constexpr std::size_t rank = sizeof...(N);
    static constexpr std::size_t value[rank + 1] = {N..., 0};
};
template <class E, class D = std::make_index_sequence<static_cast<std::size_t>(E::rank())>>
struct lengths;
template <class E, std::size_t... D>
struct lengths<E, std::index_sequence<D...>> : List<E::static_extent(D)...> {};
template <class E>
struct lengths_of : lengths<std::remove_cvref_t<E>> {};
}  // namespace detail

/// All extents are static.
template <class E>
concept shape_like = extents_like<E> && E::rank_dynamic()
== 0;
/// A valid shape of a tile, which has at most 2^24 elements.
template <class S>
concept tile_shape = shape_like<S> && detail::powers_of_two<std::remove_cv_t<S>> &&
    detail::shape_size<std::remove_cv_t<S>>
<= 16777216;

/// Equal lengths, whatever their index types and whether they are static.
template <extents_like A, extents_like B>
SIXDAYS_TILE constexpr bool extents_equal(const A& a, const B& b) noexcept {
    if (A::rank() != B::rank()) return false;
    for (std::size_t d = 0; d < A::rank(); ++d) {
        if (!std::cmp_equal(a.extent(d), b.extent(d))) return false;
    }
    return true;
}
template <extents_like A, extents_like B>
SIXDAYS_TILE constexpr bool operator==(const A& a, const B& b) noexcept {
    return extents_equal(a, b);
}
template <class A, class B>
concept same_shape = shape_like<A> && shape_like<B> &&
    extents_equal(std::remove_cv_t<A>{}, std::remove_cv_t<B>{});

// --- broadcasting ----------------------------------------------------------------------------------
namespace detail {
constexpr std::size_t length_from_end(const std::size_t* lengths, std::size_t rank, std::size_t d) {
    return d < rank ? lengths[rank - 1 - d] : 1;
}
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
template <class A, class B>
consteval bool broadcasts_to() {
    using L = lengths_of<A>;
    using R = lengths_of<B>;
    for (std::size_t d = 0; d < L::rank; ++d) {
        const std::size_t a = length_from_end(L::value, L::rank, d);
        if (a != 1 && a != length_from_end(R::value, R::rank, d)) return false;
    }
    return L::rank <= R::rank;
}
template <class A, class B, std::size_t... D>
auto both_shapes(std::index_sequence<D...>) {
    using L = lengths_of<A>;
    using R = lengths_of<B>;
    [[maybe_unused]] constexpr auto longer = [](std::size_t d) {
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
/// Position in a tile of shape FROM of the element that is broadcast to position n of shape TO.
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

/// Aligned at the last dimension, lengths are equal or A's is 1; A's rank is at most B's.
template <class A, class B>
concept shape_broadcastable_to = shape_like<A> && shape_like<B> && detail::broadcasts_to<A, B>();
/// Aligned at the last dimension, lengths are equal or one of the two is 1.
template <class A, class B>
concept shape_broadcast_compatible = shape_like<A> && shape_like<B> && detail::broadcasts<A, B>();
template <class A, class B>
requires shape_broadcast_compatible<A, B>
using shape_broadcast_t = detail::broadcast_shape<A, B>;

// --- layouts -------------------------------------------------------------------------------------
/// Offset of the element (i, j, ...): the sum of index * stride. It must fit the index type, by
/// default at most 2^32 - 1.
template <class Extents>
struct layout_right_mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using layout_type = struct layout_right;
    Extents all;
    SIXDAYS_TILE explicit layout_right_mapping(const Extents& e) noexcept : all(e) {}
    SIXDAYS_TILE const Extents& extents() const noexcept { return all; }
    SIXDAYS_TILE index_type stride(std::size_t d) const noexcept {
        index_type product = 1;
        while (++d < Extents::rank()) product = static_cast<index_type>(product * all.extent(d));
        return product;
    }
};
template <class Extents>
struct layout_left_mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using layout_type = struct layout_left;
    Extents all;
    SIXDAYS_TILE explicit layout_left_mapping(const Extents& e) noexcept : all(e) {}
    SIXDAYS_TILE const Extents& extents() const noexcept { return all; }
    SIXDAYS_TILE index_type stride(std::size_t d) const noexcept {
        index_type product = 1;
        while (d-- > 0) product = static_cast<index_type>(product * all.extent(d));
        return product;
    }
};
template <class Strides>
struct layout_strided;
template <class Extents, class Strides>
struct layout_strided_mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using layout_type = layout_strided<Strides>;
    static_assert(Extents::rank() == Strides::rank(), "as many strides as extents");
    static_assert(std::is_same_v<index_type, typename Strides::stride_type>,
                  "extents and strides are of one type");
    Extents all;
    Strides steps;
    SIXDAYS_TILE layout_strided_mapping(const Extents& e, const Strides& s) noexcept
        : all(e), steps(s) {}
    SIXDAYS_TILE const Extents& extents() const noexcept { return all; }
    SIXDAYS_TILE index_type stride(std::size_t d) const noexcept { return steps.stride(d); }
};
struct layout_right {
    template <class E>
    using mapping = layout_right_mapping<E>;
};
struct layout_left {
    template <class E>
    using mapping = layout_left_mapping<E>;
};
template <class Strides>
struct layout_strided {
    template <class E>
    using mapping = layout_strided_mapping<E, Strides>;
};

namespace detail {
template <class M>
concept mapping = requires {
    typename M::layout_type;
};
}  // namespace detail
template <detail::mapping A, detail::mapping B>
SIXDAYS_TILE constexpr bool layout_mapping_equal(const A& a, const B& b) noexcept {
    if (!extents_equal(a.extents(), b.extents())) return false;
    for (std::size_t d = 0; d < A::extents_type::rank(); ++d) {
        if (!std::cmp_equal(a.stride(d), b.stride(d))) return false;
    }
    return true;
}

/// Memory with a shape.
template <class E, class Extents, class Layout = layout_right>
struct tensor_span {
    using element_type = E;
    using value_type = std::remove_cv_t<E>;
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using mapping_type = typename Layout::template mapping<Extents>;

    SIXDAYS_TILE tensor_span(E* data, const mapping_type& m) noexcept : data_(data), mapping_(m) {}
    SIXDAYS_TILE tensor_span(E* data, const Extents& e, const Layout& = {}) noexcept requires
        std::is_constructible_v<mapping_type, const Extents&> : data_(data),
                                                                mapping_(e) {}
    SIXDAYS_TILE E* data_handle() const noexcept { return data_; }
    SIXDAYS_TILE const mapping_type& mapping() const noexcept { return mapping_; }
    SIXDAYS_TILE const Extents& extents() const noexcept { return mapping_.extents(); }
    SIXDAYS_TILE index_type extent(std::size_t d) const noexcept { return extents().extent(d); }
    SIXDAYS_TILE static constexpr std::size_t rank() noexcept { return Extents::rank(); }

private:
    E* data_;
    mapping_type mapping_;
};
template <class T, detail::mapping M>
tensor_span(T*, const M&) -> tensor_span<T, typename M::extents_type, typename M::layout_type>;
template <class T, class E, class L = layout_right>
requires(!detail::mapping<E>) tensor_span(T*, const E&, const L& = {})
->tensor_span<T, E, L>;

}  // namespace cuda::tiles
