/// @file
/// Copy between matrices whose rows have room after them. The pitch, the stride of dim 0, is then
/// larger than the width: a row of a batch that was padded for alignment, the first T positions of
/// a cache with room for more, some columns of a wider matrix.
///
///     (M, K) = (2, 3), pitch 5       1  2  3  .  .       offset = m * pitch + k
///                                    4  5  6  .  .       and not m * K + k
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// out(m, k) = in(m, k). What lies between the rows of `out` stays as it is.
/// @param in   (M, K), strides (pitch, 1) with pitch >= K; a dim of extent 1 may have any stride
/// @param out  (M, K), strides (another pitch, 1); `in` itself, or apart from it
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void pitched_cpu(View<const float> in, View<float> out);
void pitched_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});

/// How many bytes a thread has in flight.
enum class PitchedPath {
    one_element,  // the twin; at most 524,280 rows, 8 for each of a grid's 65,535 blocks in y
    singles,      // 02: single elements of eight rows
    quads,        // 02: 16 bytes of each of four rows, all of which begin at a multiple of 16
};

/// The same by one path.
/// @throws std::invalid_argument  also if that path cannot take these views
void pitched_cuda(PitchedPath path, View<const float> in, View<float> out, gpu::Stream stream = {});

/// Refuses what pitched refuses; the second also what the path cannot take.
void check_pitched(const View<const float>& in, const View<float>& out);
void check_pitched(PitchedPath path, const View<const float>& in, const View<float>& out);

/// What pitched_cuda takes: quads, else singles.
[[nodiscard]] PitchedPath choose_pitched(const View<const float>& in, const View<float>& out);
[[nodiscard]] const char* name(PitchedPath path);

}  // namespace sixdays::day02_strides
