/// @file
/// For .cu files: the ladder of the elementwise ports, one idea a file; `diff` two neighbours to
/// see it. Step 1 is the loop's twin, in elementwise_cuda.cu. `op` is one of operations.hpp, and
/// `in...` as many inputs as it takes: they come last, since C++ wants a list of any length there.
///
/// What is refused was refused before; n > 0. Each is defined for the five operations of the day.
#pragma once

#include "common/gpu/stream.hpp"
#include "day01_flat_memory/steps/elementwise/operations.hpp"

namespace sixdays::day01_flat_memory {

/// Step 2: no more threads than the GPU can hold; each walks on in steps of the whole grid.
template <class Op, class T, class... In>
void launch_grid_stride(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

/// Step 3: 16 bytes a load. Addresses must be equally far past a multiple of 16.
template <class Op, class T, class... In>
void launch_quads(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

/// Step 4: single elements, eight loads of a thread in flight, for addresses that agree on no
/// multiple of 16.
template <class Op, class T, class... In>
void launch_any_address(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in);

}  // namespace sixdays::day01_flat_memory
