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

namespace sixdays::gpt2 {

/// The sizes of a model.
struct Config {
    std::int64_t layers;      // 12 in the smallest GPT-2
    std::int64_t context;     // positions it was trained for: 1024
    std::int64_t channels;    // C, elements per token: 768
    std::int64_t heads;       // 12, of channels / heads = 64 each
    std::int64_t hidden;      // width of the MLP's hidden layer: 3072
    std::int64_t vocabulary;  // V, tokens: 50257
    float epsilon;            // of the layer norms: 1e-5

    /// Elements of a head: D.
    std::int64_t head_dim() const noexcept { return channels / heads; }
};

/// A layer norm's parameters, (C) each.
struct NormWeights {
    Tensor<float> weight, bias;  // scale and shift of each element
};

/// out = in . weightᵀ + bias, one row of the weight per output.
struct LinearWeights {
    Weight weight;       // (outputs, inputs), in the file
    Tensor<float> bias;  // (outputs)
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
};

/// The weights of a GPT-2 in a file, which must outlive them.
/// @throws std::invalid_argument  another architecture; a key or tensor that is missing, has
/// another shape, or does not belong in a GPT-2
[[nodiscard]] ModelWeights read_model(const Gguf& file);

}  // namespace sixdays::gpt2
