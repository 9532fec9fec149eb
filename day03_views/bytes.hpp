/// @file
/// Views that have forgotten their type. A move changes no element, so it needs to know only how
/// many bytes one has: floats and ints, and NaNs of any kind, arrive bit for bit.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/tensor/transform.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// An element of 16 bytes, such as a float4 or a complex number of two doubles.
struct alignas(16) Sixteen {
    std::uint64_t low, high;
};

/// A tensor to read from, of elements of 1, 2, 4, 8 or 16 bytes.
struct BytesIn {
    const void* data;  // where index (0, 0, ...) lies
    int element;       // bytes
    Layout layout;     // in elements

    template <class E>
    View<const E> as() const {
        return {static_cast<const E*>(data), layout};
    }
};

/// A tensor to write to.
struct BytesOut {
    void* data;
    int element;
    Layout layout;

    template <class E>
    View<E> as() const {
        return {static_cast<E*>(data), layout};
    }
    BytesIn read_only() const { return {data, element, layout}; }
};

template <class T>
BytesIn bytes_in(const View<T>& view) {
    return {view.data, static_cast<int>(sizeof(T)), view.layout};
}
template <class T>
BytesOut bytes_out(const View<T>& view) {
    static_assert(std::is_trivially_copyable_v<T>, "elements are moved byte by byte");
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "elements of 1, 2, 4, 8 or 16 bytes can be moved");
    return {view.data, static_cast<int>(sizeof(T)), view.layout};
}

/// The same tensor from `elements` further on in memory, under another layout.
inline BytesIn moved(const BytesIn& x, std::int64_t elements, const Layout& layout) {
    return {static_cast<const char*>(x.data) + elements * x.element, x.element, layout};
}
inline BytesOut moved(const BytesOut& x, std::int64_t elements, const Layout& layout) {
    return {static_cast<char*>(x.data) + elements * x.element, x.element, layout};
}

/// Indices [begin, end) of a dim, as slice() of a View.
template <
    class Bytes,
    std::enable_if_t<std::is_same_v<Bytes, BytesIn> || std::is_same_v<Bytes, BytesOut>, int> = 0>
Bytes slice(const Bytes& x, int dim, std::int64_t begin, std::int64_t end) {
    const Cut part = slice(x.layout, dim, begin, end);
    return moved(x, part.first, part.layout);
}

/// Calls f with an unsigned number of that many bytes: from a number known at run time to a type.
/// @throws std::invalid_argument  not 1, 2, 4, 8 or 16
template <class F>
void with_element(int bytes, const F& f) {
    switch (bytes) {
        case 1:
            return f(std::uint8_t{});
        case 2:
            return f(std::uint16_t{});
        case 4:
            return f(std::uint32_t{});
        case 8:
            return f(std::uint64_t{});
        case 16:
            return f(Sixteen{});
    }
    throw std::invalid_argument("elements of " + std::to_string(bytes) +
                                " bytes cannot be moved, only of 1, 2, 4, 8 or 16");
}

/// For check_<op>: elements of one size that can be moved, at addresses that suit them.
/// @throws std::invalid_argument  other sizes; an address that is no multiple of the size
void require_element(const char* op, const BytesIn& in, const BytesOut& out);

/// So that T is found from the output alone, and an input View<T> becomes a View<const T>.
template <class T>
struct SameType {
    using type = T;
};
template <class T>
using Same = typename SameType<T>::type;

}  // namespace sixdays::day03_views
