/// @file
/// The examples of the page "General Principles" of CUDA's Tile C++ reference, at the same size.
/// They are compiled with the emulator's cuda_tile.h and with nvcc's.
/// https://docs.nvidia.com/cuda/cuda-tile-cpp-api-reference/general_principles.html
#pragma once

#include "common/tensor/view.hpp"

namespace sixdays::gpu::tests {

/// "Header and Namespace". a, b, c (n): a block adds two numbers.
void example_add(View<const int> a, View<const int> b, View<int> c);

/// "Extents". out (5): both extents of an object, as a two-digit number.
void example_lengths(View<int> out);

/// "Properties of Extents", "Layout Mapping". out (7): are two of them equivalent?
void example_equivalences(View<int> out);

/// "Properties of Extents". out (6, 2): all indices of extents 2 x 3, in order.
void example_index_space(View<int> out);

/// "Properties of Tiles". out (8): the row-major arrangement of a tile of 4 x 2.
void example_arrangement(View<int> out);

/// "Element Type Conversions". in (4), out (4): as bfloat16, then as half, then as float.
void example_conversion(View<const float> in, View<float> out);

/// "Shape Conversions". out (32), (8), (16): both broadcasts to a shape, then the two tiles of the
/// mutual broadcast.
void example_broadcasts(View<int> first, View<int> second, View<int> mutual);

/// "Arithmetic Conversions". out (4): floats 1 x 2 minus doubles 2 x 1. equal (8): 2.0 == a tile of 42.
void example_arithmetic(View<double> out, View<int> equal);

/// "Tensor Span". data (2, 4), out (2, 4): stored as it was loaded.
void example_span(View<const float> data, View<float> out);

/// "Strides". data: (n, m) pairs of a real and an imaginary number; both parts, (n, m) each.
void example_strides(View<const float> data, View<float> real, View<float> imaginary);

/// "Numeric Modifiers". out (4): 8 + 5 eps toward negative and by default, a subnormal difference
/// flushed and by default.
void example_modifiers(View<float> out);

/// "Memory Model". out (1): the word after four stores to it.
void example_memory(View<int> out);

}  // namespace sixdays::gpu::tests
