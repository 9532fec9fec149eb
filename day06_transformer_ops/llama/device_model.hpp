/// @file
/// The weights of a Llama in device memory. Matrices that one kernel reads are one matrix here.
#pragma once

#include <optional>
#include <vector>

#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"
#include "day06_transformer_ops/llama/decode.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// Copies rows of matrices of one type and width into one matrix.
/// @param in_turn  false: all rows of the first, then all of the second, ...; true: the first row of
/// each, then the second row of each, ... of matrices with equally many rows
/// @param room     where the rows are; must outlive the result
/// @throws std::invalid_argument  no matrix, or matrices that differ in type, width, or, in turn, in
/// rows
[[nodiscard]] Weight joined(const std::vector<Weight>& matrices, bool in_turn,
                            std::vector<std::byte>& room);

/// A model's weights in device memory.
class DeviceModel {
public:
    /// A linear layer.
    struct Linear {
        /// Copies it to the device. @param bias  (0): zeros, as the kernels read one
        Linear(const Weight& matrix, const Tensor<float>& bias);
        /// As a launcher takes it.
        gpt2::DeviceLinear linear() const { return {weight.matrix(), bias.data()}; }
        gpt2::DeviceWeight weight;  // (N, K)
        gpu::Buffer<float> bias;    // (N)
    };
    /// One of the model's blocks.
    struct Block {
        /// Copies its weights to the device.
        explicit Block(const BlockWeights& host);
        gpu::Buffer<float> attention_norm, mlp_norm;  // (C) each
        gpu::Buffer<float> q_norm, k_norm;            // (D) each, or empty
        std::vector<Linear> qkv;  // rows of q, k and v: one matrix, or more if types differ
        Linear attention_output;  // (C, H D)
        std::vector<gpt2::DeviceWeight> gate_up;  // (2 F, C), rows in turn; or two (F, C)
        Linear down;                              // (C, F)
    };

    /// Copies all weights, once. @throws gpu::Error  not enough device memory
    explicit DeviceModel(const ModelWeights& host);

    /// Do the decoding kernels support these weights? Otherwise the days' operations are used.
    bool takes_one_token() const;

    /// The block of a layer. @param layer  0 <= layer < config.layers
    const Block& block(std::int64_t layer) const {
        return blocks_[static_cast<std::size_t>(layer)];
    }
    /// The norm before the head, (C).
    const gpu::Buffer<float>& final_norm() const { return final_norm_; }
    /// The token embedding, (V, C).
    gpt2::DeviceMatrix tokens() const { return tokens_.matrix(); }
    /// The head, (V, C): the token embedding if the file has no separate one.
    gpt2::DeviceMatrix head() const { return (own_head_ ? *own_head_ : tokens_).matrix(); }

private:
    std::int64_t head_dim_;
    gpt2::DeviceWeight tokens_;
    std::optional<gpt2::DeviceWeight> own_head_;
    std::vector<Block> blocks_;
    gpu::Buffer<float> final_norm_;
};

}  // namespace sixdays::llama
