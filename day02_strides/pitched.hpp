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
/// @param in   (M, K), strides (pitch, 1) with pitch >= K
/// @param out  (M, K), strides (another pitch, 1); `in` itself, or apart from it
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void pitched_cpu(View<const float> in, View<float> out);
void pitched_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_pitched(const View<const float>& in, const View<float>& out);

/// 16 bytes a load where every row of both begins at a multiple of 16 bytes, else single elements.
enum class PitchedPath { sixteen_bytes, single };
[[nodiscard]] PitchedPath choose_pitched(const View<const float>& in, const View<float>& out);
[[nodiscard]] const char* name(PitchedPath path);

}  // namespace sixdays::day02_strides
