/// @file
/// Internals of the paths, shared by softmax.cpp and the launchers.
#pragma once

#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {

/// The launcher of the tile kernel, softmax_tile.cu.
/// @param unit  rows are contiguous, made of whole vectors and aligned to 16 bytes
template <class T>
void launch_softmax_tile(const Rows<const T>& in, const Rows<T>& out, bool unit,
                         gpu::Stream stream);

/// Elements of a row for each block of the path 'split'.
inline constexpr std::int64_t kSplitPart = 512;
/// For the path 'split': (rows, parts, 2), maximum and sum of each part.
template <class T>
[[nodiscard]] View<float> softmax_parts(gpu::Carver& carver, const Rows<const T>& rows) {
    if (rows.length == 0) return {};
    return carver.take<float>({rows.count(), (rows.length + kSplitPart - 1) / kSplitPart, 2});
}

}  // namespace sixdays::day06_transformer_ops
