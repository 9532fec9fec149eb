/// @file
/// Gather: read a tensor of any strides into a contiguous one. The one kernel of this day that
/// takes a layout as it is, whatever it is: row-major or column-major, pitched, permuted, flipped,
/// broadcast.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// out(i, j, ...) = in(i, j, ...)
/// @param in   shape S of rank 0 to 8, any strides: 0 and negative ones too
/// @param out  shape S, contiguous; may be `in` itself, but not overlap it otherwise
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void gather_cpu(View<const float> in, View<float> out);
void gather_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_gather(const View<const float>& in, const View<float>& out);

/// Which kernel gather_cuda takes, the first of these that can:
enum class GatherPath {
    straight,  // `in` is contiguous too, and both lie equally far past a multiple of 16 bytes
    quads,     // the innermost dim is made of aligned runs of 4: the walk goes by 16 bytes
    by_rank,   // fewer than 2^31 elements: 32-bit numbers, division by multiplication
    any_size,  // the rest: 64-bit numbers and divisions
};
[[nodiscard]] GatherPath choose_gather(const View<const float>& in, const View<float>& out);
[[nodiscard]] const char* name(GatherPath path);

}  // namespace sixdays::day02_strides
