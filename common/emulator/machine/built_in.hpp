/// @file
/// The values that kernels read as threadIdx, blockIdx, blockDim and gridDim.
#pragma once

#include "emulated/vector_types.h"

namespace sixdays::emulator {

void set_thread_index(uint3 index);
void set_block(uint3 index, dim3 extents, dim3 grid);

}  // namespace sixdays::emulator
