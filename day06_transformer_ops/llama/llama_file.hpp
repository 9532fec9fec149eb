/// @file
/// A model of the Llama family in a GGUF file: its numbers and tensors, under llama.cpp's names.
/// With H heads of queries and G of keys and values, of D elements each:
///
///     token_embd.weight       (V, C)
///     rope_freqs.weight       (R / 2)     Llama 3.1: divisors of the frequencies by which R of a
///                                         head's D elements are rotated; optional
///     blk.0.attn_norm.weight  (C)         of an RMS norm: no bias
///     blk.0.attn_q            (H D, C)    weight; bias (H D) in qwen2, else optional
///     blk.0.attn_k            (G D, C)    the same
///     blk.0.attn_v            (G D, C)    the same
///     blk.0.attn_q_norm.weight (D)        qwen3: an RMS norm of each head's query
///     blk.0.attn_k_norm.weight (D)        and key, before the rotation
///     blk.0.attn_output.weight (C, H D)
///     blk.0.ffn_norm.weight   (C)
///     blk.0.ffn_gate.weight   (hidden, C)
///     blk.0.ffn_up.weight     (hidden, C)
///     blk.0.ffn_down.weight   (C, hidden)
///     ... blk.1, blk.2, ...
///     output_norm.weight      (C)
///     output.weight           (V, C)      absent: then the head is token_embd.weight
///
/// Names and keys: https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py
#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/file/model_reader.hpp"
#include "day06_transformer_ops/gpt2/file/sizes.hpp"

namespace sixdays::llama {

using gpt2::Gguf, gpt2::LinearWeights, gpt2::Sizes, gpt2::Weight;

/// The widest head that the readers accept.
inline constexpr std::int64_t kMostOfHead = 256;

/// How queries and keys are rotated: the first dims() elements of each head; the others stay.
struct Rope {
    day06_transformer_ops::Pairing pairing;  // which two elements of a head are rotated together
    std::vector<double> frequencies;  // radians per position, of each pair, all scaling included

    /// Elements of a head that are rotated: two per frequency.
    std::int64_t dims() const noexcept { return 2 * static_cast<std::int64_t>(frequencies.size()); }
};

/// The sizes of a model, and its rotation.
struct Config : Sizes {
    std::int64_t kv_heads;  // G, of keys and values; heads / kv_heads queries share each
    std::int64_t head_dim;  // D; heads * head_dim may differ from channels
    Rope rope;              // of queries and keys

    /// Columns of q, k and v side by side.
    std::int64_t qkv_columns() const noexcept { return (heads + 2 * kv_heads) * head_dim; }
    /// The shape of the keys of `capacity` positions, and of their values: (layer, kv head,
    /// position, dim).
    Shape cache(std::int64_t capacity) const { return {layers, kv_heads, capacity, head_dim}; }
};

/// One of the model's blocks, in the order that a token meets them. A tensor of shape (0) stands for
/// one that the architecture does not have.
struct BlockWeights {
    Tensor<float> attention_norm;    // (C)
    LinearWeights q, k, v;           // (H D, C), (G D, C), (G D, C); the biases may be (0)
    Tensor<float> q_norm, k_norm;    // (D) each, or (0) each
    LinearWeights attention_output;  // (C, H D); its bias is (0)
    Tensor<float> mlp_norm;          // (C)
    LinearWeights gate, up, down;    // (hidden, C), (hidden, C), (C, hidden); their biases are (0)
};

/// All weights. Matrices stay in the file's memory; vectors are short and are copied as floats.
struct ModelWeights {
    Config config;                     // its sizes
    Weight token_embedding;            // (V, C): a token's row is contiguous
    std::vector<BlockWeights> blocks;  // one per layer
    Tensor<float> final_norm;          // (C), before the head
    Weight head;  // (V, C); the token embedding if the file has no separate head

    /// The block of a layer, 0 <= layer < config.layers.
    const BlockWeights& block(std::int64_t layer) const {
        return blocks[static_cast<std::size_t>(layer)];
    }
};

/// The weights of a model in a file, which must outlive them. The architectures are `llama` (Llama
/// 2 and 3, SmolLM2, TinyLlama, Mistral), `qwen2` and `qwen3`.
/// @throws std::invalid_argument  another architecture; a key that is missing, that has a value
/// which this engine does not compute (a scaling of the rotation other than linear, a sliding
/// window, experts), or that it does not know; a tensor that is missing, has another shape, or has
/// no place in this architecture
[[nodiscard]] ModelWeights read_llama(const Gguf& file);

}  // namespace sixdays::llama
