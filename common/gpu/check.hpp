/// @file
/// For .cu files: turns the status of a CUDA call into an exception.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/error.hpp"

namespace sixdays::gpu {

/// Turns the status of a CUDA call into an exception; SIXDAYS_CUDA() fills in the arguments. An
/// error that is not sticky is cleared.
/// @throws gpu::Error  unless `code` is cudaSuccess; the message names call, file and line, the
/// error, and what to do
void check(cudaError_t code, const char* call, const char* file, int line);

}  // namespace sixdays::gpu

/// Executes a CUDA runtime call and throws gpu::Error if it fails: SIXDAYS_CUDA(cudaMalloc(&p, n));
#define SIXDAYS_CUDA(call) ::sixdays::gpu::check((call), #call, __FILE__, __LINE__)
