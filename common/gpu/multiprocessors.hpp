/// @file
/// For .cu files: how many multiprocessors the device has, which a launcher asks at every call.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/check.hpp"

namespace sixdays::gpu {

inline int multiprocessors() {
    int device = 0, count = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

}  // namespace sixdays::gpu
