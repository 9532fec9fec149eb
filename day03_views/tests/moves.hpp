/// @file
/// For the descriptors of Day 03: operands of any element size, at any address.
#pragma once

#include <cstdint>
#include <utility>

#include "common/tensor/index.hpp"
#include "common/testing/operation/operation.hpp"
#include "common/testing/operation/visit.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

using testing::Call, testing::Expected, testing::Inputs, testing::Loop, testing::Operand,
    testing::Operation, testing::Visit;

/// Where an operand is in memory.
struct Place {
    Layout layout;
    std::int64_t lead = 0;  // unused elements before the lowest one
    Place(const Layout& l, std::int64_t room = 0) : layout(l), lead(room) {}
};

/// Rows, along the last dimension, that are `pitch` apart.
inline Layout pitched(const Shape& shape, std::int64_t pitch) {
    Shape room = shape;
    room[shape.rank - 1] = pitch;
    return {shape, row_major(room).strides};
}

inline testing::ElementType element_of(int bytes) {
    using testing::element_type;
    switch (bytes) {
        case 1:
            return element_type<std::uint8_t>();
        case 2:
            return element_type<bf16>();
        case 8:
            return element_type<double>();
        case 16:
            return element_type<Bytes16>();
        default:
            return element_type<float>();
    }
}

/// An input whose elements are equal where they share memory, and differ from their neighbours.
inline Operand input(const char* name, int bytes, const Place& place) {
    const std::int64_t lowest = reach(place.layout).lowest;
    const std::int64_t period = bytes == 1 ? 89 : bytes == 2 ? 127 : 1 << 20;
    const Shape& shape = place.layout.shape;
    Tensor<double> values(shape);
    Index index = Dims::filled(shape.rank, 0);
    for (std::int64_t k = 0; k < values.size(); ++k, testing::advance(index, shape)) {
        const std::int64_t at = offset(place.layout, index) - lowest;
        values.data()[k] = static_cast<double>((at + at / period) % period);
    }
    Operand x{name, testing::Use::reads, element_of(bytes), shape};
    x.with(testing::taken_from(std::move(values)));
    return x.placed(place.layout, place.lead);
}
inline Operand output(const char* name, int bytes, const Place& place) {
    Operand x{name, testing::Use::writes, element_of(bytes), place.layout.shape};
    return x.placed(place.layout, place.lead);
}

/// The element at index `at` of the broadcast shape, by NumPy's rules.
inline double seen_from(const Tensor<double>& x, const Index& at) {
    Index own = x.shape();
    for (int d = 0; d < own.rank; ++d) {
        own[d] = own[d] == 1 ? 0 : at[d + at.rank - own.rank];
    }
    return x.view()(own);
}

inline UntypedIn untyped_in(const Call& c, int i, int bytes) {
    const Call::Argument& x = c.arguments[static_cast<std::size_t>(i)];
    return {x.data, bytes, x.layout};
}
inline UntypedOut untyped_out(const Call& c, int i, int bytes) {
    const Call::Argument& x = c.arguments[static_cast<std::size_t>(i)];
    return {x.data, bytes, x.layout};
}

}  // namespace sixdays::day03_views
