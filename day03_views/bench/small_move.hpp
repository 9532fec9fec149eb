/// @file
/// A move small enough to be checked against its loop in every byte: the same noise on the host and
/// on the device, and an output on each.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/arena.hpp"
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

/// Where index (0, 0, ...) lies in memory that holds the layout and nothing else.
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
          host_in_(lesson::noise(bytes_of(in, kind))),
          host_out_(static_cast<std::size_t>(bytes_of(out, kind)), 0xff),
          device_in_(bytes_of(in, kind)),
          device_out_(bytes_of(out, kind)),
          want_(bytes_of(out, kind)) {
        device_in_.upload(host_in_.data(), device_in_.size());
        device_out_.fill_bytes(0xff);
    }

    UntypedIn host_in() const { return {origin(host_in_.data(), in_, kind_), kind_.element, in_}; }
    UntypedOut host_out() { return {origin(host_out_.data(), out_, kind_), kind_.element, out_}; }
    UntypedIn in() const { return {origin(device_in_.data(), in_, kind_), kind_.element, in_}; }
    UntypedOut out() { return {origin(device_out_.data(), out_, kind_), kind_.element, out_}; }

    /// Do both outputs hold the same bytes, between the elements too?
    bool same() const { return device_out_.download() == host_out_; }

    /// The device's output, and that it must hold what the host's holds by now.
    std::vector<lesson::Outcome> outcomes() {
        want_.upload(host_out_.data(), want_.size());
        return {{device_out_.data(), want_.data(), want_.size()}};
    }

private:
    Kind kind_;
    Layout in_, out_;
    std::vector<std::uint8_t> host_in_, host_out_;
    gpu::Buffer<std::uint8_t> device_in_, device_out_, want_;
};

}  // namespace sixdays::day03_views
