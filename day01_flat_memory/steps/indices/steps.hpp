/// @file
/// For .cu files: what is faster than the loop's twin in indices_cuda.cu.
#pragma once

#include "day01_flat_memory/indices.hpp"

namespace sixdays::day01_flat_memory {

/// Step 2: a thread writes a quad. What must be refused was refused; `out` has elements.
void launch_indices_quads(std::int64_t base, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day01_flat_memory
