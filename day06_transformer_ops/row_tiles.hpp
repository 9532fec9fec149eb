/// @file
/// For the tile kernels of softmax and the norms: rows, cut into tiles.
#pragma once

#include <cuda_bf16.h>
#include <cuda_tile.h>

#include "common/tensor/half.hpp"

namespace sixdays::day06_transformer_ops {

namespace ct = cuda::tiles;

/// Rows of this length, `step` apart, cut into tiles of ROWS x N. UNIT promises that rows are
/// contiguous and aligned to 16 bytes.
template <int ROWS, int N, bool UNIT, class E>
__tile__ auto tiles(E* data, std::int64_t rows, std::int64_t length, std::int64_t step,
                    std::int64_t stride) {
    constexpr std::size_t kAny = ct::dynamic_extent, kStride = UNIT ? 1 : kAny;
    constexpr int kWhole = UNIT ? 16 / sizeof(E) : 1, kBytes = kWhole * int{sizeof(E)};
    const ct::layout_strided_mapping layout{
        ct::extents<std::int64_t, kAny, kAny>{rows, ct::assume_divisible<kWhole>(length)},
        ct::strides<std::int64_t, kAny, kStride>{ct::assume_divisible<kWhole>(step), stride}};
    const ct::tensor_span span{ct::assume_aligned<kBytes>(data), layout};
    return ct::partition_view{span, ct::shape<ROWS, N>{}};
}

/// The element type in tile kernels.
template <class T>
struct Element {
    using type = T;
};
template <>
struct Element<bf16> {
    using type = __nv_bfloat16;
};

}  // namespace sixdays::day06_transformer_ops
