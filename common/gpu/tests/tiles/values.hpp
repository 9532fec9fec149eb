/// @file
/// Numerics of CUDA Tile C++. The same kernels are compiled with the emulator's cuda_tile.h and
/// with nvcc's. Each output row is one rule, applied to all elements.
#pragma once

#include <cstdint>

#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::gpu::tests {

inline constexpr int kTileValues = 16;

/// x, y: 16 elements; out (rules, 16). T: float, int, std::int8_t, std::uint8_t.
template <class T>
void tile_rules(View<const T> x, View<const T> y, View<T> out);

/// in (4, 4); out (rules, 4): reduced along dimension 0 or 1. T: float, int.
template <class T>
void tile_reductions(View<const T> in, View<T> out);

/// x, y: 16 elements; out (4 modes, 6, 16): sum, difference, product, quotient, x y + x, sqrt(|x|);
/// to nearest even, toward zero, negative and positive. T: float, double, f16, bf16.
template <class T>
void tile_roundings(View<const T> x, View<const T> y, View<T> out);
/// in: 16 elements; out (casts, 16): cast to another type in a rounding mode, and back to float.
void tile_casts(View<const double> in, View<float> out);
/// x, y: 16 elements; out (8, 16): subnormal operands and results are 0, except in the last row.
void tile_flushed(View<const float> x, View<const float> y, View<float> out);

/// in: 16 elements, viewed as (2, 4, 2); out (scans, 16). T: float, int.
template <class T>
void tile_scans(View<const T> in, View<T> out);
inline constexpr int kTileLine = 64;
/// in: 64 elements; out (9, 64): scans forward, backward and sums, each rounded toward negative, to
/// nearest and toward positive.
void tile_rounded_sums(View<const float> in, View<float> out);

/// values, data: 16 elements; out (2 steps, 16): the result of an operation on sixteen elements of
/// 100, and its return value. T: int, std::uint64_t, float, double, f16, bf16.
template <class T>
void tile_atomics(View<const T> values, View<T> data, View<T> out);
/// counts: 9 elements; numbers[k] = the block that ran as number k.
void tile_counters(View<int> counts, View<int> numbers);

/// in: 10 elements; out (paddings, 8): its second tile of eight.
void tile_paddings(View<const float> in, View<float> out);

/// out (rules, 16): 0, 1, 2, ... in another order.
void tile_shapes(View<int> out);

/// a, b (16, 16); out (types, 16, 16): a b, for each element type.
void tile_products(View<const float> a, View<const float> b, View<float> out);

}  // namespace sixdays::gpu::tests
