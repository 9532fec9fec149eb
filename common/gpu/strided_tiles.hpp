/// @file
/// For tile kernels: memory of four dimensions and any strides, cut into tiles.
#pragma once

#include <cuda_tile.h>

#include <algorithm>
#include <array>

#include "common/gpu/launch.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::gpu {

namespace ct = cuda::tiles;
using I = std::int64_t;  ///< a tile kernel takes numbers and pointers, not structs

// [strided tiles]
/// A tensor of extents n0 to n3 and strides s0 to s3, in elements, as a view that is partitioned
/// into tiles of (1, 1, ROWS, COLUMNS). WHOLE > 1 promises that the last dimension is contiguous,
/// that its extent and all strides are multiples of WHOLE elements, and that the first element is
/// at a multiple of 16 bytes.
template <int WHOLE, int ROWS, int COLUMNS, class T>
__tile__ auto strided_tiles(T* data, I n0, I n1, I n2, I n3, I s0, I s1, I s2, I s3) {
    constexpr std::size_t kAny = ct::dynamic_extent, kLast = WHOLE > 1 ? 1 : kAny;
    constexpr int kBytes = WHOLE == 1 ? int{sizeof(T)} : 16;
    data = ct::assume_aligned<kBytes>(data);
    const ct::extents<I, kAny, kAny, kAny, kAny> extents{n0, n1, n2,
                                                         ct::assume_divisible<WHOLE>(n3)};
    const ct::strides<I, kAny, kAny, kAny, kLast> strides{ct::assume_divisible<WHOLE>(s0),
                                                          ct::assume_divisible<WHOLE>(s1),
                                                          ct::assume_divisible<WHOLE>(s2), s3};
    const ct::tensor_span span{data, ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<1, 1, ROWS, COLUMNS>{}};
}
// [strided tiles]

/// The four extents or strides of a layout with at most four dimensions, for strided_tiles().
/// @param missing  for the dimensions put in front: 1 for extents, 0 for strides
inline std::array<I, 4> four(const Dims& numbers, I missing) {
    std::array<I, 4> all;
    all.fill(missing);
    for (int d = 0; d < numbers.rank; ++d) {
        all[static_cast<std::size_t>(4 - numbers.rank + d)] = numbers[d];
    }
    return all;
}

/// Blocks for one tile of (1, 1, rows, columns) each over extents n.
/// @throws std::invalid_argument  as blocks_for()
inline unsigned tiles_of(const std::array<I, 4>& n, int rows, int columns) {
    return blocks_for(n[0] * n[1] * ((n[2] + rows - 1) / rows) * ((n[3] + columns - 1) / columns),
                      1);
}

}  // namespace sixdays::gpu
