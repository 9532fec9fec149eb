/// @file
/// What a comparison needs to know about an element's type: its size, its value, how to print it.
/// The comparisons are then ordinary functions, compiled once for all types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/tensor/half.hpp"
#include "common/tensor/tensor.hpp"

namespace sixdays::testing {

/// How an element's bytes are read.
enum class Kind {
    floating,          ///< float or double
    bfloat,            ///< bf16
    half,              ///< f16
    signed_integer,    ///< two's complement, of 1, 2, 4 or 8 bytes
    unsigned_integer,  ///< of 1, 2, 4 or 8 bytes
    raw                ///< anything else: compared and printed as bytes
};

/// What a comparison knows of an element's type.
struct ElementType {
    /// How to read its bytes.
    Kind kind;
    /// Its size.
    int bytes;
};

/// The element type of T. Anything that is neither a number nor a 16-bit float is `raw`: compared
/// and printed as bytes.
template <class T>
constexpr ElementType element_type() {
    static_assert(std::is_trivially_copyable_v<T>, "elements are compared byte by byte");
    constexpr int bytes = static_cast<int>(sizeof(T));
    if (std::is_same_v<T, float> || std::is_same_v<T, double>) return {Kind::floating, bytes};
    if (std::is_same_v<T, bf16>) return {Kind::bfloat, bytes};
    if (std::is_same_v<T, f16>) return {Kind::half, bytes};
    if (std::is_integral_v<T> && std::is_signed_v<T>) return {Kind::signed_integer, bytes};
    if (std::is_integral_v<T>) return {Kind::unsigned_integer, bytes};
    return {Kind::raw, bytes};
}

/// The element as a number; exact except for integers beyond 2^53. NaN if it is `raw`.
double value_of(ElementType type, const std::byte* element);

/// The element in the fewest digits that identify it; a NaN with its bits, raw in hex.
std::string text_of(ElementType type, const std::byte* element);

/// Same bytes? -0 and +0 differ, a NaN equals a NaN of the same bits.
bool same_bytes(const std::byte* a, const std::byte* b, int bytes);

/// A View whose element type is known at run time.
struct Elements {
    const std::byte* data;  ///< at index (0, 0, ...)
    /// Shape and strides, in elements.
    Layout layout;
    /// Of each element.
    ElementType type;

    /// The bytes of the element at this offset, in elements.
    const std::byte* at(std::int64_t element_offset) const {
        return data + element_offset * type.bytes;
    }
    /// The bytes of the element at this index.
    const std::byte* at(const Index& index) const { return at(offset(layout, index)); }
};

/// The elements of a View.
template <class T>
Elements elements(const View<T>& view) {
    return {reinterpret_cast<const std::byte*>(view.data), view.layout,
            element_type<std::remove_const_t<T>>()};
}

/// The next index in row-major order; after the last one, the first again.
inline void advance(Index& index, const Shape& shape) {
    for (int d = shape.rank - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
}

}  // namespace sixdays::testing
