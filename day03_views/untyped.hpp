/// @file
/// Type-erased views. A move does not change elements, so it needs only their size in bytes:
/// floats, ints and NaNs of any kind are copied bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// An element of 16 bytes, such as a float4 or a complex number of two doubles.
struct alignas(16) Bytes16 {
    std::uint64_t low,  ///< bytes 0 to 7
        high;           ///< bytes 8 to 15
};

/// A tensor to read from, of elements of 1, 2, 4, 8 or 16 bytes. A View converts to one implicitly.
struct UntypedIn {
    const void* data = nullptr;  ///< address of index (0, 0, ...)
    int element = 0;             ///< bytes
    Layout layout;               ///< in elements

    /// A tensor of elements of `element_` bytes whose index (0, 0, ...) is at `data_`. Unchecked.
    UntypedIn(const void* data_, int element_, const Layout& layout_)
        : data(data_), element(element_), layout(layout_) {}
    /// The elements of a View, as bytes.
    template <class T>
    UntypedIn(const View<T>& view) : UntypedIn(view.data, sizeof(T), view.layout) {}

    /// The same elements as a View; E has `element` bytes, unchecked.
    template <class E>
    View<const E> as() const {
        return {static_cast<const E*>(data), layout};
    }
};

/// A tensor to write to, of elements of 1, 2, 4, 8 or 16 bytes. A View converts to one implicitly.
struct UntypedOut {
    void* data = nullptr;  ///< address of index (0, 0, ...)
    int element = 0;       ///< bytes: 1, 2, 4, 8 or 16
    Layout layout;         ///< in elements

    /// A tensor of elements of `element_` bytes whose index (0, 0, ...) is at `data_`. Unchecked.
    UntypedOut(void* data_, int element_, const Layout& layout_)
        : data(data_), element(element_), layout(layout_) {}
    /// The elements of a View, as bytes. They are trivially copyable, of 1, 2, 4, 8 or 16 bytes.
    template <class T>
    UntypedOut(const View<T>& view) : UntypedOut(view.data, sizeof(T), view.layout) {
        static_assert(std::is_trivially_copyable_v<T>, "elements are moved byte by byte");
        static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                      "elements of 1, 2, 4, 8 or 16 bytes can be moved");
    }

    /// The same elements as a View; E has `element` bytes, unchecked.
    template <class E>
    View<E> as() const {
        return {static_cast<E*>(data), layout};
    }
};

/// Another name of T, from which T cannot be deduced.
template <class T>
struct SameType {
    /// T.
    using type = T;
};
/// T, deduced from another argument: so an input View<T> converts to View<const T>.
template <class T>
using Same = typename SameType<T>::type;

/// The same memory, starting `elements` elements later, under another layout. Unchecked.
inline UntypedIn moved(const UntypedIn& x, std::int64_t elements, const Layout& layout) {
    return {static_cast<const char*>(x.data) + elements * x.element, x.element, layout};
}
/// The same memory, starting `elements` elements later, under another layout. Unchecked.
inline UntypedOut moved(const UntypedOut& x, std::int64_t elements, const Layout& layout) {
    return {static_cast<char*>(x.data) + elements * x.element, x.element, layout};
}

/// Indices [begin, end) of a dimension, like slice() of a View. @throws std::invalid_argument  as
/// slice()
inline UntypedIn slice(const UntypedIn& x, int dim, std::int64_t begin, std::int64_t end) {
    const Cut part = sixdays::slice(x.layout, dim, begin, end);
    return moved(x, part.first, part.layout);
}
/// Indices [begin, end) of a dimension, like slice() of a View. @throws std::invalid_argument  as
/// slice()
inline UntypedOut slice(const UntypedOut& x, int dim, std::int64_t begin, std::int64_t end) {
    const Cut part = sixdays::slice(x.layout, dim, begin, end);
    return moved(x, part.first, part.layout);
}

/// Calls f with an unsigned integer of that many bytes: turns a size at run time into a type.
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
            return f(Bytes16{});
    }
    reject("elements of ", bytes, " bytes cannot be moved, only of 1, 2, 4, 8 or 16");
}

/// For check_<op>: the address must be aligned to its elements.
/// @param element  bytes
/// @throws std::invalid_argument  it is not a multiple of that
inline void require_address(const char* op, const char* name, const void* data, int element) {
    const auto past = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(element);
    if (past != 0) {
        reject(op, ": ", name, " begins ", past, " bytes past a multiple of ", element,
               ", but has elements of that many bytes");
    }
}

/// For check_<op>: equal and supported element sizes, at aligned addresses.
/// @throws std::invalid_argument  a size other than 1, 2, 4, 8 or 16 bytes, different sizes, a
/// misaligned address
inline void require_element(const char* op, const UntypedIn& in, const UntypedOut& out) {
    with_prefix(op, [&] { with_element(in.element, [](auto) {}); });
    if (in.element != out.element) {
        reject(op, ": in has elements of ", in.element, " bytes, but out of ", out.element,
               "; a move changes no element");
    }
    require_address(op, "in", in.data, in.element);
    require_address(op, "out", out.data, out.element);
}

}  // namespace sixdays::day03_views
