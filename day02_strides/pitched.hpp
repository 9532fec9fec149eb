/// @file
/// Copy between matrices with padded rows. The pitch, the stride of dimension 0, is then larger
/// than the width: rows of a batch that were padded for alignment, the first T positions of a cache
/// with spare capacity, some columns of a wider matrix.
///
///     (M, K) = (2, 3), pitch 5       1  2  3  .  .       offset = m * pitch + k
///                                    4  5  6  .  .       and not m * K + k
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// The kernel to launch: the paths differ in the bytes in flight per thread.
enum class PitchedPath {
    one_element,  ///< naive; at most 524,280 rows, 8 for each of a grid's 65,535 blocks in y
    singles,      ///< 02: scalar loads from eight rows
    vectorized,   ///< 02: 128-bit loads from four rows; all rows begin at a multiple of 16
    tile,         ///< only on request: CUDA Tile C++
};
[[nodiscard]] const char* name(PitchedPath path);

/// Copies a matrix whose rows have gaps between them: out(m, k) = in(m, k). Elements between the
/// rows of `out` keep their values.
/// @param in   (M, K), strides (pitch, 1) with pitch >= K; the stride of a dimension of extent 1 is
/// arbitrary
/// @param out  (M, K), strides (its own pitch, 1); `in` itself, or disjoint from it
/// @throws std::invalid_argument  different shapes, a rank other than 2, other strides, a null
/// pointer, overlap
void pitched_cpu(View<const float> in, View<float> out);
/// @throws std::invalid_argument  also one_element with more than kMostRows rows, and `vectorized`
/// where a row does not begin at a multiple of 16 bytes
void pitched_cuda(View<const float> in, View<float> out, const gpu::Launch<PitchedPath>& how = {});
void check_pitched(const View<const float>& in, const View<float>& out,
                   std::optional<PitchedPath> path = {});

/// The path that pitched_cuda() takes: `vectorized` where every row of both begins at a multiple of
/// 16 bytes, else `singles`.
[[nodiscard]] PitchedPath choose_pitched(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
