/// @file
/// How tall a matrix a plain 2-D grid can cover.
#pragma once

#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

/// The 2-D kernels of this day put rows on y in blocks of 8, and a grid ends at 65,535 blocks in y.
/// fill3_kernel shows how to go on beyond that.
inline constexpr std::int64_t kMostRows = 65535 * 8;

/// @throws std::invalid_argument  more rows than that
template <class T>
void require_rows_fit(const char* op, const View<T>& matrix) {
    if (matrix.extent(0) > kMostRows) {
        refuse(std::string(op) + ": out has " + std::to_string(matrix.extent(0)) +
               " rows, but a grid of 65,535 blocks of 8 rows ends at " + std::to_string(kMostRows));
    }
}

}  // namespace sixdays::day01_flat_memory
