/// @file
/// What CUDA Tile C++ makes of numbers. The same kernels go through the emulator's cuda_tile.h and
/// through nvcc's. Each writes row after row: one rule, applied to all its elements.
#pragma once

#include <cstdint>

#include "common/tensor/view.hpp"

namespace sixdays::gpu::tests {

inline constexpr int kTileValues = 16;

/// x, y: 16 elements; out (rules, 16). T: float, int, std::int8_t, std::uint8_t.
template <class T>
void tile_rules(View<const T> x, View<const T> y, View<T> out);

/// in (4, 4); out (rules, 4): reduced along dim 0 or 1. T: float, int.
template <class T>
void tile_reductions(View<const T> in, View<T> out);

/// in: 10 elements; out (paddings, 8): its second tile of eight.
void tile_paddings(View<const float> in, View<float> out);

/// out (rules, 16): 0, 1, 2, ... in another order.
void tile_shapes(View<int> out);

/// a, b (16, 16); out (types, 16, 16): a b, with elements of one type after the other.
void tile_products(View<const float> a, View<const float> b, View<float> out);

}  // namespace sixdays::gpu::tests
