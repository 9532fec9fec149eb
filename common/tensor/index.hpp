/// @file
/// One number and a multi-index are two names of the same element: ravel goes one way, unravel the
/// other. Both count in row-major order (last dim fastest), whatever the layout in memory.
///
/// It is counting with a mixed base: in shape (2, 3, 4) the last digit runs to 4, the middle one to
/// 3. Element (1, 2, 3) is number (1 * 3 + 2) * 4 + 3 = 23. NumPy: ravel_multi_index,
/// unravel_index.
#pragma once

#include <cstdint>

#include "common/tensor/layout.hpp"

namespace sixdays {

/// Number of the element at `index`, 0 <= number < size. Unchecked.
SIXDAYS_HD inline std::int64_t ravel(const Index& index, const Shape& shape) noexcept {
    std::int64_t number = 0;
    for (int d = 0; d < kMaxRank; ++d) {  // to the constant 8: see offset()
        if (d < shape.rank) number = number * shape[d] + index[d];
    }
    return number;
}

/// The multi-index of element `number`: one division and one remainder per dim. Unchecked; there
/// is no such element in a shape with an extent of 0.
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
