/// @file
/// Copy between matrices whose rows have room after them. The pitch, the stride of dim 0, is then
/// larger than the width: a row of a batch that was padded for alignment, the first T positions of
/// a cache with room for more, some columns of a wider matrix.
///
///     (M, K) = (2, 3), pitch 5       1  2  3  .  .       offset = m * pitch + k
///                                    4  5  6  .  .       and not m * K + k
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// How many bytes a thread has in flight.
enum class PitchedPath {
    one_element,  // the twin; at most 524,280 rows, 8 for each of a grid's 65,535 blocks in y
    singles,      // 02: single elements of eight rows
    quads,        // 02: 16 bytes of each of four rows, all of which begin at a multiple of 16
    tile,         // never chosen unasked: CUDA Tile C++
};
[[nodiscard]] const char* name(PitchedPath path);

/// out(m, k) = in(m, k). What lies between the rows of `out` stays as it is.
/// @param in   (M, K), strides (pitch, 1) with pitch >= K; a dim of extent 1 may have any stride
/// @param out  (M, K), strides (another pitch, 1); `in` itself, or apart from it
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void pitched_cpu(View<const float> in, View<float> out);
/// @throws std::invalid_argument  also a path that cannot take these views
void pitched_cuda(View<const float> in, View<float> out, const gpu::Launch<PitchedPath>& how = {});
void check_pitched(const View<const float>& in, const View<float>& out,
                   std::optional<PitchedPath> path = {});

/// What pitched_cuda takes: quads, else singles.
[[nodiscard]] PitchedPath choose_pitched(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
