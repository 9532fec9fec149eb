/// @file
/// The ladder: one sum, five kernels, one idea a file. `diff` two neighbours to see the idea.
/// All take and refuse what add_cuda does.
#pragma once

#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {

/// Step 1: one thread, one element.
void add_one_element(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream = {});

/// Step 2: no more threads than the GPU can hold; each walks on in steps of the whole grid.
void add_grid_stride(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream = {});

/// Step 3: 16 bytes a load. Needs pointers that are equally far from a multiple of 16.
/// @throws std::invalid_argument  also where choose_add() says any_address
void add_sixteen_bytes(View<const float> a, View<const float> b, View<float> out,
                       gpu::Stream stream = {});

/// Step 4: two 16-byte loads of each input are under way before the first result is needed.
/// @throws std::invalid_argument  also where choose_add() says any_address
void add_two_in_flight(View<const float> a, View<const float> b, View<float> out,
                       gpu::Stream stream = {});

/// Step 5: four 4-byte loads of each input under way, for pointers that agree on no multiple of 16.
void add_any_address(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream = {});

/// How many elements lie before the first address that is a multiple of 16, at most n: 0 to 3.
/// @throws std::invalid_argument  the three pointers do not agree on it
[[nodiscard]] std::int64_t head_before_16(const View<const float>& a, const View<const float>& b,
                                          const View<float>& out);

}  // namespace sixdays::day01_flat_memory
