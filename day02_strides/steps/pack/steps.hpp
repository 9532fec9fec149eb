/// @file
/// Faster versions of pack's naive kernel, one idea per file: `diff` two of them to see it.
/// Launchers check nothing; pack_cuda has done so.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

/// Step 2: an offset without a division.
/// @param walk  layout of `in`, simplified; at least one element, and fewer than 2^31
/// @param out   of the same size, contiguous, disjoint from `in`: from step 4 on, a thread could
/// otherwise read what another thread has written
void pack_fast_division(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 3: one kernel per rank, so that the compiler unrolls the loop over dimensions.
void pack_by_rank(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 4: eight elements per thread, all loaded before the first is stored.
void pack_in_flight(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 5: one float4 per thread.
/// @param walk  fewer than 2^31 float4; has_wider()
void pack_vectors(const float* in, const Layout& walk, float* out, gpu::Stream stream);

}  // namespace sixdays::day02_strides
