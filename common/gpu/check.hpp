/// @file
/// For .cu files: turns the status of a CUDA call into an exception.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/error.hpp"

namespace sixdays::gpu {

/// @throws gpu::Error  unless `code` is cudaSuccess; the message names call, file and line
void check(cudaError_t code, const char* call, const char* file, int line);

}  // namespace sixdays::gpu

/// SIXDAYS_CUDA(cudaMalloc(&p, n));
#define SIXDAYS_CUDA(call) ::sixdays::gpu::check((call), #call, __FILE__, __LINE__)
