// The plain loop, and what loop and port refuse.
#include "day03_views/copy.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"

namespace sixdays::day03_views {
namespace {

// [copy]
template <class T>
void copy_loop(const T* in, const Layout& in_layout, const Layout& out_layout, T* out) {
    const std::int64_t n = out_layout.size();
    for (std::int64_t k = 0; k < n; ++k) {
        const Index index = unravel(k, out_layout.shape);
        out[offset(out_layout, index)] = in[offset(in_layout, index)];
    }
}
// [copy]

bool same_view(const BytesIn& in, const BytesOut& out) {
    return in.data == out.data && equivalent(in.layout, out.layout);
}

}  // namespace

void copy_bytes_cpu(const BytesIn& in, const BytesOut& out) {
    check_copy(in, out);
    if (same_view(in, out)) return;
    with_element(in.element, [&](auto element) {
        using E = decltype(element);
        copy_loop(static_cast<const E*>(in.data), in.layout, out.layout, static_cast<E*>(out.data));
    });
}

void check_copy(const BytesIn& in, const BytesOut& out) {
    require_element("copy", in, out);
    with_element(in.element, [&](auto element) {
        const auto from = in.as<decltype(element)>();
        const auto to = out.as<decltype(element)>();
        require_same_shape("copy", "in", from, "out", to);
        require_memory("copy", "in", from);
        require_memory("copy", "out", to);
        require_injective("copy", "out", to);
        require_same_or_apart("copy", "in", from, "out", to);
    });
}

void check_room(const BytesIn& in, const BytesOut& room) {
    check_copy(in, room);
    with_element(in.element, [&](auto element) {
        require_contiguous("contiguous", "room", room.as<decltype(element)>());
    });
}

}  // namespace sixdays::day03_views
