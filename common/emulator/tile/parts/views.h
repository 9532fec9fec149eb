/// @file
/// A span partitioned into adjacent tiles. Tile (i, j) starts at element (i * its rows, j * its
/// columns).
#pragma once

#include <algorithm>
#include <limits>

#include "atomics.h"

namespace cuda::tiles {

/// The value of a masked load outside the span.
enum class view_padding : unsigned char { zero, negative_zero, positive_inf, negative_inf, nan };
template <view_padding PADDING>
struct view_padding_constant : detail::Constant<PADDING> {};
using view_padding_zero_t = view_padding_constant<view_padding::zero>;
using view_padding_negative_zero_t = view_padding_constant<view_padding::negative_zero>;
using view_padding_positive_inf_t = view_padding_constant<view_padding::positive_inf>;
using view_padding_negative_inf_t = view_padding_constant<view_padding::negative_inf>;
using view_padding_nan_t = view_padding_constant<view_padding::nan>;

namespace detail {
template <class E, view_padding PAD>
consteval float padding() {
    static_assert(PAD == view_padding::zero || is_real<E>, "integers are padded by zeros");
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    switch (PAD) {
        case view_padding::negative_zero:
            return -0.0f;
        case view_padding::positive_inf:
            return kInfinity;
        case view_padding::negative_inf:
            return -kInfinity;
        case view_padding::nan:
            return std::numeric_limits<float>::quiet_NaN();
        default:
            return 0;
    }
}
}  // namespace detail

template <class Span, class Shape>
struct partition_view {
    using element_type = typename Span::element_type;
    using value_type = typename Span::value_type;
    using view_tile_type = tile<value_type, Shape>;
    static_assert(Shape::rank() == Span::rank(), "a tile must have as many dimensions as its span");
    static_assert(Shape::rank() <= sixdays::emulator::kMostTileRank);

    SIXDAYS_TILE partition_view(Span span, Shape) noexcept : span_(span) {}
    SIXDAYS_TILE const Span& span() const noexcept { return span_; }

    template <class... I>
    static constexpr bool kIndices = sizeof...(I) == Shape::rank() &&
                                     (scalar_convertible_to<I, typename Span::index_type> && ...);
    template <class V>
    static constexpr bool kStores =
        !std::is_const_v<element_type> && non_narrowing_tile_convertible_to<V, view_tile_type>;

    template <class... I>
    requires kIndices<I...>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load(I... index) const {
        return taken<view_padding::zero>("load", false, SIXDAYS_TILE_CODE, index...);
    }
    template <view_padding PAD = view_padding::zero, class... I>
    requires kIndices<I...>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load_masked(I... index) const {
        return taken<PAD>("load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
    template <view_padding PAD, class... I>
    requires kIndices<I...>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load_masked(view_padding_constant<PAD>,
                                                              I... index) const {
        return taken<PAD>("load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
    template <class V, class... I>
    requires kIndices<I...> && kStores<V>
    [[gnu::noinline]] SIXDAYS_TILE void store(const V& values, I... index) const {
        put("store", false, SIXDAYS_TILE_CODE, values, index...);
    }
    template <class V, class... I>
    requires kIndices<I...> && kStores<V>
    [[gnu::noinline]] SIXDAYS_TILE void store_masked(const V& values, I... index) const {
        put("store_masked", true, SIXDAYS_TILE_CODE, values, index...);
    }

    // Atomics. Order and scope are template arguments, or passed before the indices.
    template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), class... I>
    requires kIndices<I...> && read_memory_order<ORDER>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type atomic_load(I... index) const {
        return taken<view_padding::zero, ORDER, SCOPE>("atomic_load", false, SIXDAYS_TILE_CODE,
                                                       index...);
    }
    template <memory_order ORDER, class... I>
    requires kIndices<I...> && read_memory_order<ORDER>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type atomic_load(memory_order_constant<ORDER>,
                                                              I... index) const {
        return taken<view_padding::zero, ORDER, default_thread_scope()>(
            "atomic_load", false, SIXDAYS_TILE_CODE, index...);
    }
    template <memory_order ORDER, thread_scope SCOPE, class... I>
    requires kIndices<I...> && read_memory_order<ORDER>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type atomic_load(memory_order_constant<ORDER>,
                                                              thread_scope_constant<SCOPE>,
                                                              I... index) const {
        return taken<view_padding::zero, ORDER, SCOPE>("atomic_load", false, SIXDAYS_TILE_CODE,
                                                       index...);
    }
    template <view_padding PAD, memory_order ORDER, thread_scope SCOPE = default_thread_scope(),
              class... I>
    requires kIndices<I...> && read_memory_order<ORDER>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type atomic_load_masked(view_padding_constant<PAD>,
                                                                     memory_order_constant<ORDER>,
                                                                     I... index) const {
        return taken<PAD, ORDER, SCOPE>("atomic_load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
    template <view_padding PAD, memory_order ORDER, thread_scope SCOPE, class... I>
    requires kIndices<I...> && read_memory_order<ORDER>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type atomic_load_masked(view_padding_constant<PAD>,
                                                                     memory_order_constant<ORDER>,
                                                                     thread_scope_constant<SCOPE>,
                                                                     I... index) const {
        return taken<PAD, ORDER, SCOPE>("atomic_load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
#define SIXDAYS_ATOMIC_STORE(name, masked)                                                      \
    template <memory_order ORDER, thread_scope SCOPE = default_thread_scope(), class V,         \
              class... I>                                                                       \
    requires kIndices<I...> && kStores<V> && write_memory_order<ORDER>                          \
    [[gnu::noinline]] SIXDAYS_TILE void name(const V& values, I... index) const {               \
        put_atomically<ORDER, SCOPE>(#name, masked, SIXDAYS_TILE_CODE, values, index...);       \
    }                                                                                           \
    template <memory_order ORDER, class V, class... I>                                          \
    requires kIndices<I...> && kStores<V> && write_memory_order<ORDER>                          \
    [[gnu::noinline]] SIXDAYS_TILE void name(const V& values, memory_order_constant<ORDER>,     \
                                             I... index) const {                                \
        put_atomically<ORDER, default_thread_scope()>(#name, masked, SIXDAYS_TILE_CODE, values, \
                                                      index...);                                \
    }                                                                                           \
    template <memory_order ORDER, thread_scope SCOPE, class V, class... I>                      \
    requires kIndices<I...> && kStores<V> && write_memory_order<ORDER>                          \
    [[gnu::noinline]] SIXDAYS_TILE void name(const V& values, memory_order_constant<ORDER>,     \
                                             thread_scope_constant<SCOPE>, I... index) const {  \
        put_atomically<ORDER, SCOPE>(#name, masked, SIXDAYS_TILE_CODE, values, index...);       \
    }
    SIXDAYS_ATOMIC_STORE(atomic_store, false)
    SIXDAYS_ATOMIC_STORE(atomic_store_masked, true)
#undef SIXDAYS_ATOMIC_STORE

    // These return nothing, must be relaxed, and exclude system scope.
#define SIXDAYS_ATOMIC_UPDATE(name, masked, Change)                                           \
    template <memory_order ORDER, thread_scope SCOPE, class V, class... I>                    \
    requires kIndices<I...> && kStores<V> &&(ORDER == memory_order::relaxed) &&               \
        (SCOPE != thread_scope::system) &&                                                    \
        detail::Change::template kTakes<value_type> [[gnu::noinline]] SIXDAYS_TILE void name( \
            const V& values, memory_order_constant<ORDER>, thread_scope_constant<SCOPE>,      \
            I... index) const {                                                               \
        update<detail::Change, SCOPE>(#name, masked, SIXDAYS_TILE_CODE, values, index...);    \
    }
#define SIXDAYS_BOTH(name, Change)             \
    SIXDAYS_ATOMIC_UPDATE(name, false, Change) \
    SIXDAYS_ATOMIC_UPDATE(name##_masked, true, Change)
    SIXDAYS_BOTH(atomic_add, Add)
    SIXDAYS_BOTH(atomic_sub, Sub)
    SIXDAYS_BOTH(atomic_and, And)
    SIXDAYS_BOTH(atomic_or, Or)
    SIXDAYS_BOTH(atomic_xor, Xor)
    SIXDAYS_BOTH(atomic_max, Max)
    SIXDAYS_BOTH(atomic_min, Min)
#undef SIXDAYS_BOTH
#undef SIXDAYS_ATOMIC_UPDATE

private:
    static constexpr std::size_t kRank = Shape::rank(), kSize = detail::shape_size<Shape>;

    template <class... I>
    SIXDAYS_TILE sixdays::emulator::TileOfSpan chosen(const char* call, I... index) const {
        static_assert(sizeof...(I) == kRank, "one index per dimension");
        sixdays::emulator::TileOfSpan t{
            call, span_.data_handle(), kRank, {static_cast<long long>(index)...}, {}, {}, 0, 0};
        for (std::size_t d = 0; d < kRank; ++d) {
            t.lengths[d] = static_cast<long long>(Shape::static_extent(d));
            t.extents[d] = static_cast<long long>(span_.extent(d));
            const long long end = std::min((t.index[d] + 1) * t.lengths[d], t.extents[d]);
            t.farthest += (end - 1) * static_cast<long long>(span_.mapping().stride(d));
        }
        using Limits = std::numeric_limits<typename Span::index_type>;
        t.most = sizeof(typename Span::index_type) < 8 ? static_cast<long long>(Limits::max())
                                                       : std::numeric_limits<long long>::max();
        return t;
    }
    /// Address of the n-th element of a tile; null if it is outside the span.
    SIXDAYS_TILE element_type* element(const sixdays::emulator::TileOfSpan& t,
                                       std::size_t n) const {
        long long offset = 0;
        for (std::size_t d = kRank; d-- > 0; n /= Shape::static_extent(d)) {
            const long long i =
                t.index[d] * t.lengths[d] + static_cast<long long>(n % Shape::static_extent(d));
            if (i >= t.extents[d]) return nullptr;
            offset += i * static_cast<long long>(span_.mapping().stride(d));
        }
        return span_.data_handle() + offset;
    }
    template <view_padding PAD, class... I>
    SIXDAYS_TILE view_tile_type taken(const char* call, bool masked, const void* code,
                                      I... index) const {
        return taken_by<PAD>(
            call, masked, code,
            [=](const value_type* p) SIXDAYS_TILE { return detail::loaded<value_type>(p, code); },
            index...);
    }
    template <view_padding PAD, memory_order ORDER, thread_scope SCOPE, class... I>
    SIXDAYS_TILE view_tile_type taken(const char* name, bool masked, const void* code,
                                      I... index) const {
        const auto call = detail::atomic_call<ORDER, SCOPE>(detail::Use::load, code);
        call.begin();
        const view_tile_type result = taken_by<PAD>(
            name, masked, code,
            [=](const value_type* p) SIXDAYS_TILE {
                call.element(p, sizeof(value_type));
                return *p;
            },
            index...);
        call.end();
        return result;
    }
    template <view_padding PAD, class Take, class... I>
    SIXDAYS_TILE view_tile_type taken_by(const char* call, bool masked, const void* code,
                                         const Take& take, I... index) const {
        const auto t = chosen(call, index...);
        sixdays::emulator::check_inside(t, masked, code);
        return view_tile_type::made([&](std::size_t n) SIXDAYS_TILE {
            const element_type* p = element(t, n);
            return p != nullptr ? take(p)
                                : detail::converted<value_type>(detail::padding<value_type, PAD>());
        });
    }
    /// change(old, value) for every element inside the span, as one atomic call.
    template <class Change, class V, class... I>
    SIXDAYS_TILE void change_each(const char* name, bool masked, const detail::AtomicCall& call,
                                  const Change& change, const V& values, I... index) const {
        const view_tile_type tile = values;
        const auto t = chosen(name, index...);
        sixdays::emulator::check_inside(t, masked, call.code);
        call.begin();
        for (std::size_t n = 0; n < kSize; ++n) {
            element_type* p = element(t, n);
            if (p == nullptr) continue;
            const value_type value = tile.elements()[n];
            detail::updated(p, call,
                            [&](value_type old) SIXDAYS_TILE { return change(old, value); });
        }
        call.end();
    }
    template <memory_order ORDER, thread_scope SCOPE, class V, class... I>
    SIXDAYS_TILE void put_atomically(const char* name, bool masked, const void* code,
                                     const V& values, I... index) const {
        change_each(
            name, masked, detail::atomic_call<ORDER, SCOPE>(detail::Use::store, code),
            [](value_type, value_type value) SIXDAYS_TILE { return value; }, values, index...);
    }
    template <class C, thread_scope SCOPE, class V, class... I>
    SIXDAYS_TILE void update(const char* name, bool masked, const void* code, const V& values,
                             I... index) const {
        change_each(
            name, masked,
            detail::atomic_call<memory_order::relaxed, SCOPE>(detail::Use::update, code),
            [](value_type old, value_type value) SIXDAYS_TILE { return C::change(old, value); },
            values, index...);
    }
    template <class V, class... I>
    SIXDAYS_TILE void put(const char* call, bool masked, const void* code, const V& values,
                          I... index) const {
        const view_tile_type tile = values;
        const auto t = chosen(call, index...);
        sixdays::emulator::check_inside(t, masked, code);
        sixdays::emulator::note_stored(t);
        auto** targets =
            static_cast<const void**>(sixdays::emulator::new_elements(kSize * sizeof(void*)));
        std::size_t count = 0;
        for (std::size_t n = 0; n < kSize; ++n) {
            element_type* p = element(t, n);
            if (p == nullptr) continue;
            targets[count++] = p;
            detail::stored<value_type>(p, tile.elements()[n], code);
        }
        sixdays::emulator::check_distinct(targets, count, code);
        sixdays::emulator::drop_elements(targets);
    }

    Span span_;
};
template <class Span, class Shape>
partition_view(Span, Shape) -> partition_view<Span, Shape>;

}  // namespace cuda::tiles
