/// @file
/// For descriptors: a path's requirements on one operand, stated by the addresses of its rows
/// instead of by strides.
#pragma once

#include <cstdint>

#include "common/tensor/index.hpp"
#include "common/testing/operation/operation.hpp"

namespace sixdays::testing {

/// Calls f(at) for the first element of each row along `dim`, in row-major order.
template <class F>
void for_each_row(const Shape& shape, int dim, const F& f) {
    for (std::int64_t k = 0; k < size(shape); ++k) {
        const Index at = unravel(k, shape);
        if (at[dim] == 0) f(at);
    }
}

/// Is each row contiguous and aligned to 16 bytes?
inline bool has_aligned_rows(const Call::Argument& x, int dim, std::int64_t element_bytes) {
    const Layout& l = x.layout;
    bool all = l.size() == 0 || l.extent(dim) == 1 || l.stride(dim) == 1;
    for_each_row(l.shape, dim, [&](const Index& at) {
        const std::byte* row = x.data + offset(l, at) * element_bytes;
        all = all && reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
    });
    return all;
}

/// Are the strides from dimension `from` on nonnegative, as CUDA Tile C++ requires? True for a null
/// pointer.
inline bool goes_forwards(const Call::Argument& x, int from = 0) {
    if (x.data == nullptr) return true;
    for (int d = from; d < x.layout.rank(); ++d) {
        if (x.layout.extent(d) > 1 && x.layout.stride(d) < 0) return false;
    }
    return true;
}

}  // namespace sixdays::testing
