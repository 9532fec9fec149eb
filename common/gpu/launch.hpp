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

/// grid.y and grid.z end here.
inline constexpr unsigned kMostBlocksYZ = 65535;

/// As many blocks as cover `items`, but at most `most`: then the grid may be too small, and the
/// kernel must walk on in steps of the whole grid.
[[nodiscard]] unsigned blocks_at_most(std::int64_t items, int threads, unsigned most);

/// Call it right after `kernel<<<grid, block>>>(...)`: a launch itself returns nothing.
/// @throws gpu::Error  the launch failed; names kernel, grid, block, and what to do about it
void check_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace sixdays::gpu
