/// @file
/// For the tile kernels: lines of elements, cut into tiles of LINES x ELEMENTS.
#pragma once

#include <cuda_tile.h>

#include <algorithm>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

namespace ct = cuda::tiles;
using I = std::int64_t;  ///< a tile kernel takes numbers and pointers, not structs

/// The guarantee about lines. With either one all begin at multiples of 16 bytes and consist of
/// whole float4s.
enum class LineOrder {
    any,          ///< none
    along,        ///< lines are contiguous
    side_by_side  ///< adjacent lines begin at adjacent elements
};

/// Lines of `length` elements, cut into tiles of (1, LINES, N). Element e of line (i, j) is at i *
/// s0 + j * s1 + e * step.
/// @param n0, n1  lines of index i and j
template <int LINES, int N, LineOrder ORDER>
__tile__ auto tiles(const float* in, I n0, I n1, I length, I s0, I s1, I step) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    constexpr bool kAlong = ORDER == LineOrder::along, kBeside = ORDER == LineOrder::side_by_side;
    constexpr int kBytes = kAlong || kBeside ? 16 : 4;
    constexpr int kVectorAlong = kAlong ? 4 : 1, kVectorBeside = kBeside ? 4 : 1;
    const ct::extents<I, kAny, kAny, kAny> extents{n0, ct::assume_divisible<kVectorBeside>(n1),
                                                   ct::assume_divisible<kVectorAlong>(length)};
    const ct::strides<I, kAny, kBeside ? 1 : kAny, kAlong ? 1 : kAny> strides{
        ct::assume_divisible<kBytes / 4>(s0), ct::assume_divisible<kVectorAlong>(s1),
        ct::assume_divisible<kVectorBeside>(step)};
    const ct::tensor_span span{ct::assume_aligned<kBytes>(in),
                               ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<1, LINES, N>{}};
}
/// Stores one element per line (i, first), (i, first + 1), ... below n1, at out + i * o0 + j * o1;
/// by addresses, as `out` may have negative strides.
template <class T, class V>
__tile__ void store_lines(T* out, const V& values, I i, I first, I n1, I o0, I o1) {
    const auto j = ct::iota<ct::tile<I, ct::tile_shape_t<V>>>() + first;
    ct::store_masked(out + (i * o0 + j * o1), values, j < n1);
}

/// Lines of a tile: one if they are long and contiguous, else many adjacent ones together.
template <LineOrder ORDER>
inline constexpr int kLines = ORDER == LineOrder::along ? 1 : 64;
/// Elements of each line in a tile.
template <LineOrder ORDER>
inline constexpr int kElements = ORDER == LineOrder::along ? 4096 : 64;

/// Calls launch(template arguments of the kernel, grid, kernel arguments before `out`, out) for
/// each two dimensions of lines.
template <class T, class Launch>
void for_each_tiled(const Lines& lines, const View<T>& out, const Launch& launch) {
    const auto both = simplify(lines.first.layout, out.layout);
    const int rank = both[0].rank(), outer = std::max(rank - 2, 0);
    const auto dim = [&](const Dims& numbers, int from_back, I missing) {
        return from_back < rank ? numbers[rank - 1 - from_back] : missing;
    };
    const I n0 = dim(both[0].shape, 1, 1), n1 = dim(both[0].shape, 0, 1), length = lines.length();
    const I s0 = dim(both[0].strides, 1, 0), s1 = dim(both[0].strides, 0, 0);
    const I o0 = dim(both[1].strides, 1, 0), o1 = dim(both[1].strides, 0, 0);
    const I step = length > 1 ? lines.stride() : 1;
    Layout first = both[0], to = both[1];
    first.shape.rank = first.strides.rank = to.shape.rank = to.strides.rank = outer;
    for (I k = 0; k < first.size(); ++k) {
        const Index at = unravel(k, first.shape);
        const float* in = lines.first.data + offset(first, at);
        const bool vectors = gpu::all_at_16_bytes(in) && s0 % 4 == 0;
        const auto by = [&]<LineOrder ORDER>() {
            const unsigned grid =
                gpu::blocks_for(n0 * ((n1 + kLines<ORDER> - 1) / kLines<ORDER>), 1);
            launch.template operator()<ORDER>(grid, in, n0, n1, length, s0, s1, step, o0, o1,
                                              out.data + offset(to, at));
        };
        if (vectors && step == 1 && s1 % 4 == 0 && length % 4 == 0 && length > 256) {
            by.template operator()<LineOrder::along>();
        } else if (vectors && s1 == 1 && step % 4 == 0 && n1 % 4 == 0) {
            by.template operator()<LineOrder::side_by_side>();
        } else {
            by.template operator()<LineOrder::any>();
        }
    }
}

}  // namespace sixdays::day04_argmax
