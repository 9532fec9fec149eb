/// @file
/// Writing to an element by its multi-index, in 2, 3 and 4 dims: loop variables become threads.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"
#include "day01_flat_memory/grid_limits.hpp"

namespace sixdays::day01_flat_memory {

/// Writes into every element its own multi-index, read as a number in `base`: with base 10,
/// out(1, 2, 3) = 123. Rounded to float once, so whole up to 2^24.
/// @param base  >= 1; values tell elements apart if it is no smaller than any extent
/// @param out   contiguous, of rank 2, 3 or 4; of rank 2 at most kMostRows rows
/// @throws std::invalid_argument  another rank, gaps in out, a null pointer, base < 1, too many
/// rows, or a value that does not fit in 64 bits
void fill_cpu(std::int64_t base, View<float> out);
void fill_cuda(std::int64_t base, View<float> out, gpu::Stream stream = {});
void check_fill(std::int64_t base, const View<float>& out);

}  // namespace sixdays::day01_flat_memory
