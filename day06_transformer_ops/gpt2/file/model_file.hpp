/// @file
/// A GPT-2 in a GGUF file: its numbers and tensors, under llama.cpp's names.
///
///     token_embd.weight      (V, C)      position_embd.weight   (context, C)
///     blk.0.attn_norm        (C)         weight and bias, of a layer norm
///     blk.0.attn_qkv         (3C, C)     weight and bias (3C): query, key, value side by side
///     blk.0.attn_output      (C, C)
///     blk.0.ffn_norm         (C)
///     blk.0.ffn_up           (hidden, C)
///     blk.0.ffn_down         (C, hidden)
///     ... blk.1, blk.2, ...
///     output_norm            (C)
///     output.weight          (V, C)      often absent: then the head is token_embd.weight
#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/file/model_reader.hpp"
#include "day06_transformer_ops/gpt2/file/sizes.hpp"

namespace sixdays::gpt2 {

/// The sizes of a GPT-2.
struct Config : Sizes {
    /// Elements of a head: D.
    std::int64_t head_dim() const noexcept { return channels / heads; }
    /// The shape of the keys of `capacity` positions, and of their values: (layer, head, position,
    /// dim).
    Shape cache(std::int64_t capacity) const { return {layers, heads, capacity, head_dim()}; }
};

/// A layer norm's parameters, (C) each.
struct NormWeights {
    Tensor<float> weight, bias;  // scale and shift of each element
};

/// One of the model's blocks, in the order that a token meets them.
struct BlockWeights {
    NormWeights attention_norm;           // before attention
    LinearWeights qkv, attention_output;  // (3 C, C): queries, keys, values; (C, C)
    NormWeights mlp_norm;                 // before the MLP
    LinearWeights up, down;               // (hidden, C); (C, hidden)
};

/// All weights. Matrices stay in the file's memory; vectors are short and are copied as floats.
struct ModelWeights {
    Config config;                     // its sizes
    Weight token_embedding;            // (V, C): a token's row is contiguous
    Weight position_embedding;         // (context, C)
    std::vector<BlockWeights> blocks;  // one per layer
    NormWeights final_norm;            // before the head
    Weight head;  // (V, C); the token embedding if the file has no separate head

    /// The block of a layer, 0 <= layer < config.layers.
    const BlockWeights& block(std::int64_t layer) const {
        return blocks[static_cast<std::size_t>(layer)];
    }
};

/// The weights of a GPT-2 in a file, which must outlive them.
/// @throws std::invalid_argument  another architecture; a key or tensor that is missing, has
/// another shape, or does not belong in a GPT-2
[[nodiscard]] ModelWeights read_model(const Gguf& file);

}  // namespace sixdays::gpt2
