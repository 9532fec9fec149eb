/// @file
/// For .cu files: the optimization steps of the elementwise kernels, one idea per file; `diff` two
/// of them to see it. Step 1 is the naive kernel in elementwise_cuda.cu. `op` is one of
/// operations.hpp, `in...` its inputs, last because C++ requires that of a pack.
///
/// Arguments are already checked; n > 0. Each is defined for the five operations of the day.
#pragma once

#include "common/gpu/stream.hpp"
#include "day01_flat_memory/steps/elementwise/operations.hpp"

namespace sixdays::day01_flat_memory {

/// Step 2: no more threads than the GPU can hold, each in a grid-stride loop.
template <class Op, class T, class... In>
void launch_grid_stride(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

/// Step 3: 128-bit loads. Addresses must be equal modulo 16.
template <class Op, class T, class... In>
void launch_vectorized(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

/// Step 4: scalar loads, eight in flight per thread, for addresses that are not equal modulo 16.
template <class Op, class T, class... In>
void launch_any_address(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

}  // namespace sixdays::day01_flat_memory
