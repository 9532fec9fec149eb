/// @file
/// The launcher of embed's step. It checks nothing; ids and places already have the same shape.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"

namespace sixdays::day06_transformer_ops {

/// Does the table have a row with this index?
template <class T>
SIXDAYS_HD inline bool is_row(std::int64_t number, const View<const T>& table) {
    return 0 <= number && number < table.extent(0);
}

/// Step 2: one warp per row.
template <class T>
void launch_embed_vectorized(const View<const T>& tokens, const View<const std::int64_t>& ids,
                             const View<const T>& positions, const View<const std::int64_t>& places,
                             const Rows<T>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
