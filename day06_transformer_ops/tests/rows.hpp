/// @file
/// For the descriptors of operations on rows: which calls a path supports, decided from the
/// addresses of all elements instead of strides, and a result in double computed row by row.
#pragma once

#include "common/testing/operation/rows.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

using testing::Call, testing::know, testing::list, testing::all_equal_to, testing::for_each_row;

/// Rows of whole 16-byte vectors: each begins at a multiple of 16 bytes and has no gaps.
template <class T>
bool has_rows_of_vectors(const Call::Argument& x, int dim) {
    return x.layout.extent(dim) * std::int64_t{sizeof(T)} % 16 == 0 &&
           testing::has_aligned_rows(x, dim, sizeof(T));
}

/// Are the elements of a row contiguous?
inline bool has_rows_along_memory(const Call::Argument& x, int dim) {
    return x.layout.extent(dim) == 1 || x.layout.stride(dim) == 1;
}

/// Are rows evenly spaced with nonnegative strides, as CUDA Tile C++ requires?
inline bool has_evenly_spaced_rows(const Call::Argument& x, int dim) {
    bool even = x.layout.extent(dim) == 1 || x.layout.stride(dim) >= 0;
    std::int64_t rows = 0, step = 0;
    for_each_row(x.layout.shape, dim, [&](const Index& at) {
        if (rows == 1) step = offset(x.layout, at);
        even = even && step >= 0 && offset(x.layout, at) == rows * step;
        ++rows;
    });
    return even;
}

}  // namespace sixdays::day06_transformer_ops
