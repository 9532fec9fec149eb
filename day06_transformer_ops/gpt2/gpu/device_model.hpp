/// @file
/// A model's weights in device memory, for the CUDA version.
#pragma once

#include <optional>
#include <vector>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"

namespace sixdays::gpt2 {

/// A model's weights in device memory.
class DeviceModel {
public:
    /// A layer norm's parameters.
    struct Norm {
        /// Copies them to the device.
        Norm(const NormWeights& host, float eps_)
            : weight(host.weight), bias(host.bias), eps(eps_) {}
        /// As the operations take them.
        NormParameters parameters() const {
            return {weight.view({weight.size()}), bias.view({bias.size()}), eps};
        }
        gpu::Buffer<float> weight, bias;  // (C) each
        float eps;                        // added to the variance
    };
    /// A linear layer.
    struct Linear {
        /// Copies its weights to the device.
        explicit Linear(const LinearWeights& host) : weight(host.weight), bias(host.bias) {}
        /// As a launcher takes it.
        DeviceLinear linear() const { return {weight.matrix(), bias.data()}; }
        DeviceWeight weight;      // (N, K)
        gpu::Buffer<float> bias;  // (N)
    };
    /// One of the model's blocks.
    struct Block {
        /// Copies its weights to the device.
        Block(const BlockWeights& host, float eps);
        Norm attention_norm, mlp_norm;           // before attention; before the MLP
        Linear qkv, attention_output, up, down;  // (3 C, C); (C, C); (F, C); (C, F)
    };

    /// Copies all weights, once. @throws gpu::Error  not enough device memory
    explicit DeviceModel(const ModelWeights& host);

    /// Do the decoding kernels (decode.hpp) support these weights? Otherwise the twins are used.
    bool takes_one_token() const;

    /// The block of a layer. @param layer  0 <= layer < config.layers
    const Block& block(std::int64_t layer) const {
        return blocks_[static_cast<std::size_t>(layer)];
    }
    /// The norm before the head.
    const Norm& final_norm() const { return final_norm_; }
    /// The token embedding, (V, C).
    DeviceMatrix tokens() const { return tokens_.matrix(); }
    /// The position embedding, (context, C).
    DeviceMatrix positions() const { return positions_.matrix(); }
    /// The head, (V, C): the token embedding if the file has no separate one.
    DeviceMatrix head() const { return (own_head_ ? *own_head_ : tokens_).matrix(); }

private:
    std::int64_t head_dim_;
    DeviceWeight tokens_, positions_;
    std::optional<DeviceWeight> own_head_;
    std::vector<Block> blocks_;
    Norm final_norm_;
};

}  // namespace sixdays::gpt2
