/// @file
/// The exercises' kernels as a model calls them, on numbers in host memory. Each result is compared
/// with the exercise's CPU reference.
#pragma once

#include "day06_transformer_ops/gpt2/backend/kv_cache.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::gpt2::mine {

/// add_rms_norm: the RMS norm of each row of in + before, times weight.
/// @param in, before, out  (T, C)
/// @param weight           (C)
void norm(View<const float> in, View<const float> before, View<const float> weight, float epsilon,
          View<float> out);

/// out = in weight^T + bias. Many rows use `shared_tile`; one row uses `linear`, one thread per
/// output; `decode_q4` decodes a weight in Q4_K.
/// @param in      (T, K)
/// @param weight  (N, K)
/// @param bias    (N), or a null pointer
/// @param out     (T, N)
void product(View<const float> in, const Weight& weight, View<const float> bias, View<float> out);

/// out += in weight^T + bias.
void add_product(View<const float> in, const LinearWeights& weights, View<float> out);

/// rotate_pair: rotates the heads of tokens from position `first` on, in place. Where the model does
/// not rotate all neighbours of a head, the CPU reference does it.
/// @param heads  (1, heads, T, D): queries or keys
/// @param table  rotary_table() of rope.frequencies
void rotate(const llama::Rope& rope, View<const float> table, std::int64_t first,
            View<float> heads);

/// Causal attention of the heads of T queries from position `first` on. A whole prompt uses
/// `causal_row`, one query at a time `softmax_rows` between the CPU references of two products.
/// @param q, out  (1, heads, T, D)
/// @param held    keys and values, (kv heads, positions, D); heads / kv heads queries share each
void attend(View<const float> q, const KvSlots& held, std::int64_t first, View<float> out);

/// row_by_block: must say that `token` has the largest of the logits, (V).
void choose(View<const float> logits, std::int64_t token);

}  // namespace sixdays::gpt2::mine
