/// @file
/// The rotation of queries and keys, for both CPU backends.
#pragma once

#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// Rotates the first rope.dims() elements of each head, in place: rotary_cpu() of a pass.
/// @param heads   (1, heads, T, D): queries or keys
/// @param table   rotary_table() of rope.frequencies
/// @param places  (T), the position of each token
/// @throws std::invalid_argument  shapes that do not match, a position beyond the table
void rotate(const Rope& rope, View<const float> table, View<const std::int64_t> places,
            View<float> heads);

}  // namespace sixdays::llama
