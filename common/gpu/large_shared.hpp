/// @file
/// For .cu files: kernels that need more than 48 KiB of shared memory must opt in.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/check.hpp"

namespace sixdays::gpu {

/// The shared memory per block that every GPU of compute capability 8.0 and newer allows; some
/// allow more.
inline constexpr std::size_t kSharedOfAll = 99 * 1024;

/// Lets a kernel use this many bytes of dynamic shared memory. Needed above 48 KiB; call it before
/// the launch. The driver remembers the setting for the kernel.
/// @throws gpu::Error  more than the device allows
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
    SIXDAYS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes)));
}

/// The most bytes of shared memory per block on this device, static `__shared__` variables
/// included.
/// @throws gpu::Error  a failed query
inline std::size_t most_shared() {
    int device = 0, bytes = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return static_cast<std::size_t>(bytes);
}

}  // namespace sixdays::gpu
