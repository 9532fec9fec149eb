/// @file
/// For .cu files: how many blocks a launch needs, and whether it succeeded.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/gpu/error.hpp"

namespace sixdays::gpu {

/// Blocks of `threads` threads that cover `items`, the last one perhaps partly: items / threads,
/// rounded up.
/// @throws std::invalid_argument  items < 0, or more blocks than grid.x allows (2^31 - 1)
[[nodiscard]] unsigned blocks_for(std::int64_t items, int threads);

/// The limit of grid.y and grid.z.
inline constexpr unsigned kMostBlocksYZ = 65535;

/// Blocks of `threads` threads that cover `items`, but at most `most`: the grid may then be too
/// small, and the kernel needs a grid-stride loop.
/// @throws std::invalid_argument  items < 0
[[nodiscard]] unsigned blocks_at_most(std::int64_t items, int threads, unsigned most);

/// Throws if a launch failed. Call it right after `kernel<<<grid, block>>>(...)`: a launch itself
/// returns nothing. Errors of the running kernel come later, with synchronize().
/// @throws gpu::Error  the launch failed; the message names kernel, grid, block, and what to do
/// about it
void check_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace sixdays::gpu
