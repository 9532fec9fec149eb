/// @file
/// What is faster than pack's twin, one idea a file: `diff` two neighbours to see it. Nothing is
/// checked here; pack_cuda has done so.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::day02_strides {

/// Step 2: an offset without a division.
/// @param walk  layout of `in`, simplified; fewer than 2^31 elements, and at least one
/// @param out   so many elements, without a gap; apart from `in`: from step 4 on a thread may read
/// what another one writes
void pack_fast_division(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 3: a kernel per rank, so that the compiler writes the loop over dims out.
void pack_by_rank(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 4: eight elements a thread, all asked for before the first is stored.
void pack_in_flight(const float* in, const Layout& walk, float* out, gpu::Stream stream);

/// Step 5: elements of 16 bytes, one a thread.
/// @param walk  fewer than 2^31 quads; has_wider()
void pack_quads(const float* in, const Layout& walk, float* out, gpu::Stream stream);

}  // namespace sixdays::day02_strides
