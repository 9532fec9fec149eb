/// @file
/// The launcher of the tile kernel, embedding_tile.cu, and the views that it supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/simplify.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"

namespace sixdays::day06_transformer_ops {

/// Layouts of out's rows, of ids and of places, with as few dimensions as all three permit.
/// @param places  of ids' shape
template <class T>
[[nodiscard]] std::array<Layout, 3> embedded_rows(const View<T>& out,
                                                  const View<const std::int64_t>& ids,
                                                  const View<const std::int64_t>& places) {
    return simplify(rows_along(out, out.rank() - 1).first.layout, ids.layout, places.layout);
}

/// One of a tile's four dimensions is the row itself; the others index the rows.
inline constexpr int kMostRowDims = gpu::kMostTileDims - 1;

/// @param vectors  both tables and out have rows of whole vectors that begin at multiples of 16
/// bytes
template <class T>
void launch_embed_tile(const View<const T>& tokens, const View<const std::int64_t>& ids,
                       const View<const T>& positions, const View<const std::int64_t>& places,
                       const View<T>& out, bool vectors, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
