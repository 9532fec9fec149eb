/// @file
/// The launcher of the tile kernel, norm_tile.cu, and the views that it supports.
#pragma once

#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

/// Maximum length of a row, which is one tile.
inline constexpr int kMostTiled = 8192;

/// Layer norm, or RMS norm.
/// @param unit  rows are contiguous, made of whole vectors and aligned to 16 bytes
template <class T>
void launch_norm_tile(bool layer, const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& out, bool unit, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
