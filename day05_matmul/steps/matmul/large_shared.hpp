/// @file
/// For .cu files: kernels that want more than 48 KiB of shared memory must say so.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/check.hpp"

namespace sixdays::day05_matmul {

/// Call it before the launch; the driver remembers it for the kernel.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
    SIXDAYS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes)));
}

}  // namespace sixdays::day05_matmul
