/// @file
/// For .cu files: how many blocks a launch needs, and whether it worked.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/gpu/error.hpp"

namespace sixdays::gpu {

/// Blocks of `threads` that cover `items`, the last one perhaps partly: items / threads, rounded
/// up.
/// @throws std::invalid_argument  items < 0, or more blocks than grid.x can count (2^31 - 1)
[[nodiscard]] unsigned blocks_for(std::int64_t items, int threads);

/// The same for grid.y and grid.z, which end at 65,535: never more than that, so the kernel must
/// walk on in steps of the grid where there is more to cover.
[[nodiscard]] unsigned blocks_for_yz(std::int64_t items, int threads);

/// Call it right after `kernel<<<grid, block>>>(...)`: a launch itself returns nothing.
/// @throws gpu::Error  the launch failed; names kernel, grid, block, and what to do about it
void check_launch(const char* kernel, dim3 grid, dim3 block, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE());

}  // namespace sixdays::gpu
