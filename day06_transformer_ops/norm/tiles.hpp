/// @file
/// The launcher of the tile port, norm_tile.cu, and what it can take.
#pragma once

#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

/// A row is one tile, which has no more elements than these.
inline constexpr int kMostTiled = 8192;

/// Layer norm, or RMS norm.
/// @param unit  rows lie along memory, are made of whole quads and begin at multiples of 16 bytes
template <class T>
void launch_norm_tile(bool layer, const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& out, bool unit, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
