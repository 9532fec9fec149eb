/// @file
/// Converts between the flat index of an element and its multi-index: ravel and unravel. Both count
/// in row-major order (last dimension fastest), whatever the layout in memory.
///
/// It is a mixed-radix number: in shape (2, 3, 4) the last digit has radix 4, the middle one 3.
/// Element (1, 2, 3) has flat index (1 * 3 + 2) * 4 + 3 = 23. NumPy: ravel_multi_index,
/// unravel_index.
#pragma once

#include <cstdint>

#include "common/tensor/layout.hpp"

namespace sixdays {

/// Flat index of the element at `index`, counted in row-major order whatever the layout in memory:
/// 0 <= number < size. NumPy's ravel_multi_index. Unchecked.
SIXDAYS_HD inline std::int64_t ravel(const Index& index, const Shape& shape) noexcept {
    std::int64_t number = 0;
    for (int d = 0; d < kMaxRank; ++d) {  // to the constant 8: see offset()
        if (d < shape.rank) number = number * shape[d] + index[d];
    }
    return number;
}

/// The multi-index of flat index `number`, counted in row-major order: one division and one
/// remainder per dimension. NumPy's unravel_index. Unchecked; a shape with an extent of 0 has no
/// such element.
SIXDAYS_HD inline Index unravel(std::int64_t number, const Shape& shape) noexcept {
    Index index;
    index.rank = shape.rank;
    for (int d = kMaxRank - 1; d >= 0; --d) {
        if (d < shape.rank) {
            const std::int64_t quotient = number / shape[d];
            index[d] = number - quotient * shape[d];  // the remainder
            number = quotient;
        }
    }
    return index;
}

}  // namespace sixdays
