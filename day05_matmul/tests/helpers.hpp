/// @file
/// Helpers of Day 05's tests: layouts of matrices, paths and integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The layout of a matrix, or of a stack of them.
enum class MatrixOrder {
    row_major,
    column_major,  // a transposed view: a weight stored (N, K)
    column_gaps,   // the same, of a wider matrix; columns begin at multiples of 16 bytes
    gaps,          // a slice of a wider matrix; rows still begin at multiples of 16 bytes
    odd_gaps,      // the same, but rows do not
    every_other,   // the columns 0, 2, 4, ... of a matrix
    flipped,       // negative strides of rows and columns
};

inline const std::vector<MatrixOrder> kAllOrders = {
    MatrixOrder::row_major, MatrixOrder::column_major, MatrixOrder::column_gaps, MatrixOrder::gaps,
    MatrixOrder::odd_gaps,  MatrixOrder::every_other,  MatrixOrder::flipped};

/// @param vector  elements per 16 bytes
inline Layout layout_of(const Shape& shape, MatrixOrder order, std::int64_t vector = 4) {
    const int m = shape.rank - 2, n = shape.rank - 1;
    Shape room = shape, across;
    switch (order) {
        case MatrixOrder::row_major:
            return row_major(shape);
        case MatrixOrder::column_major:
            std::swap(room[m], room[n]);
            return transpose(row_major(room));
        case MatrixOrder::column_gaps:
            std::swap(room[m], room[n]);
            across = room;
            room[n] = (room[n] + vector - 1) / vector * vector + vector;
            return transpose(Layout(across, row_major(room).strides));
        case MatrixOrder::gaps:
            room[n] = (shape[n] + vector - 1) / vector * vector + vector;
            return {shape, row_major(room).strides};
        case MatrixOrder::odd_gaps:
            room[n] = shape[n] + 3 + shape[n] % 2;
            return {shape, row_major(room).strides};
        case MatrixOrder::every_other:
            room[n] = 2 * shape[n];
            return {shape, [&] {
                        Strides strides = row_major(room).strides;
                        strides[n] = 2;
                        return strides;
                    }()};
        case MatrixOrder::flipped:
            return flip(flip(row_major(shape), m).layout, n).layout;
    }
    return row_major(shape);
}

using P = MatmulPath;

inline std::vector<P> all_paths() {
    std::vector<P> paths;
    for (int i = 0; i <= static_cast<int>(P::shallow); ++i) paths.push_back(static_cast<P>(i));
    if (gpu::has_tile()) paths.push_back(P::tile);
    return paths;
}

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// Integers: any order of adding them gives the same bits.
inline Tensor<float> whole(const Shape& shape, std::uint64_t seed) {
    return testing::seeded_integers<float>(shape, seed, -9, 9);
}

/// Bytes of shared memory that the emulator and Hopper allow a block; and those of the emulator's ring
/// of 128 x 192, which has three stages.
inline constexpr std::size_t kEmulated = 163 * 1024, kOnHopper = 227 * 1024,
                             kEmulatedRing = 120 * 1024;

struct Size {
    std::int64_t M, N, K;
};

inline Shape with(const Shape& stack, std::int64_t rows, std::int64_t columns) {
    Shape shape = stack;
    shape[shape.rank++] = rows;
    shape[shape.rank++] = columns;
    return shape;
}

}  // namespace sixdays::day05_matmul
