/// @file
/// For .cu files: faster versions of the naive kernel in indices_cuda.cu.
#pragma once

#include "day01_flat_memory/indices.hpp"

namespace sixdays::day01_flat_memory {

/// Step 2: a thread writes one float4. Arguments are already checked; `out` has elements.
void launch_indices_vectorized(std::int64_t base, View<float> out, gpu::Stream stream);

}  // namespace sixdays::day01_flat_memory
