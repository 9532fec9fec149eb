/// @file
/// A span cut into tiles that lie side by side. Tile (i, j) holds what begins at element
/// (i * its rows, j * its columns).
#pragma once

#include <algorithm>
#include <limits>

#include "memory.h"

namespace cuda::tiles {

/// What a masked load puts where the span has nothing.
enum class view_padding : unsigned char { zero, negative_zero, positive_inf, negative_inf, nan };
template <view_padding>
struct view_padding_constant {};
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
    static_assert(Shape::rank() == Span::rank(), "a tile has as many dims as its span");
    static_assert(Shape::rank() <= sixdays::emulator::kMostTileRank);

    SIXDAYS_TILE partition_view(Span span, Shape) noexcept : span_(span) {}
    SIXDAYS_TILE const Span& span() const noexcept { return span_; }

    template <class... I>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load(I... index) const {
        return taken<view_padding::zero>("load", false, SIXDAYS_TILE_CODE, index...);
    }
    template <view_padding PAD = view_padding::zero, class... I>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load_masked(I... index) const
        requires(std::is_convertible_v<I, long long>&&...) {
        return taken<PAD>("load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
    template <view_padding PAD, class... I>
    [[gnu::noinline]] SIXDAYS_TILE view_tile_type load_masked(view_padding_constant<PAD>,
                                                              I... index) const {
        return taken<PAD>("load_masked", true, SIXDAYS_TILE_CODE, index...);
    }
    template <class V, class... I>
    [[gnu::noinline]] SIXDAYS_TILE void store(const V& values, I... index) const {
        put("store", false, SIXDAYS_TILE_CODE, values, index...);
    }
    template <class V, class... I>
    [[gnu::noinline]] SIXDAYS_TILE void store_masked(const V& values, I... index) const {
        put("store_masked", true, SIXDAYS_TILE_CODE, values, index...);
    }

private:
    static constexpr std::size_t kRank = Shape::rank(), kSize = detail::shape_size<Shape>;

    template <class... I>
    SIXDAYS_TILE sixdays::emulator::TileOfSpan chosen(const char* call, I... index) const {
        static_assert(sizeof...(I) == kRank, "one index a dim");
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
    /// The n-th element of a tile, or null if the span has none there.
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
        const auto t = chosen(call, index...);
        sixdays::emulator::check_inside(t, masked, code);
        return view_tile_type::made([&](std::size_t n) SIXDAYS_TILE {
            const element_type* p = element(t, n);
            return p != nullptr ? detail::loaded<value_type>(p, code)
                                : static_cast<value_type>(detail::padding<value_type, PAD>());
        });
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
