/// @file
/// A move small enough to compare every byte with the CPU reference: the same noise on the host and
/// on the device, and an output on each.
#pragma once

#include <cstdint>
#include <vector>

#include "common/lesson/arena.hpp"
#include "common/lesson/both.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

struct Kind {
    const char* dtype;
    int element;  // bytes
};
inline constexpr Kind kUint8 = {"uint8", 1}, kBf16 = {"bfloat16", 2}, kFloat = {"float32", 4};

inline std::int64_t bytes_of(const Layout& layout, const Kind& kind) {
    return required_span(layout) * kind.element;
}

/// Position of index (0, 0, ...) in memory that spans just the layout.
template <class Byte>
Byte* origin(Byte* memory, const Layout& layout, const Kind& kind) {
    return layout.size() == 0 ? memory : memory - reach(layout).lowest * kind.element;
}

class SmallMove {
public:
    SmallMove(const Kind& kind, const Layout& in, const Layout& out)
        : kind_(kind),
          in_(in),
          out_(out),
          from_(row_major({bytes_of(in, kind)}),
                [noise = lesson::noise(bytes_of(in, kind))](std::int64_t i) {
                    return noise[static_cast<std::size_t>(i)];
                }),
          to_(row_major({bytes_of(out, kind)})) {}

    UntypedIn host_in() { return {origin(from_.host().data, in_, kind_), kind_.element, in_}; }
    UntypedOut host_out() { return {origin(to_.host().data, out_, kind_), kind_.element, out_}; }
    UntypedIn in() { return {origin(from_.device().data, in_, kind_), kind_.element, in_}; }
    UntypedOut out() { return {origin(to_.device().data, out_, kind_), kind_.element, out_}; }

    /// Whether both outputs hold the same bytes, also between the elements.
    bool same() const { return to_.same(); }

    /// The device's output, with the host's output as its expected value.
    std::vector<lesson::Outcome> outcomes() { return {to_.outcome()}; }

private:
    Kind kind_;
    Layout in_, out_;
    lesson::Both<std::uint8_t> from_, to_;
};

}  // namespace sixdays::day03_views
