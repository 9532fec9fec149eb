/// @file
/// A model's weights in device memory, for the CUDA version.
#pragma once

#include <optional>
#include <vector>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"

namespace sixdays::gpt2 {

class DeviceModel {
public:
    struct Norm {
        Norm(const NormWeights& host, float eps_)
            : weight(host.weight), bias(host.bias), eps(eps_) {}
        NormParameters parameters() const {
            return {weight.view({weight.size()}), bias.view({bias.size()}), eps};
        }
        gpu::Buffer<float> weight, bias;
        float eps;
    };
    struct Linear {
        explicit Linear(const LinearWeights& host) : weight(host.weight), bias(host.bias) {}
        DeviceLinear linear() const { return {weight.matrix(), bias.data()}; }
        DeviceWeight weight;
        gpu::Buffer<float> bias;
    };
    struct Block {
        Block(const BlockWeights& host, float eps);
        Norm attention_norm, mlp_norm;
        Linear qkv, attention_output, up, down;
    };

    /// Copies all weights, once. @throws gpu::Error  not enough device memory
    explicit DeviceModel(const ModelWeights& host);

    /// Do the decoding kernels (decode.hpp) support these weights? Otherwise the twins are used.
    bool takes_one_token() const;

    const Block& block(std::int64_t layer) const {
        return blocks_[static_cast<std::size_t>(layer)];
    }
    const Norm& final_norm() const { return final_norm_; }
    DeviceMatrix tokens() const { return tokens_.matrix(); }
    DeviceMatrix positions() const { return positions_.matrix(); }
    DeviceMatrix head() const { return (own_head_ ? *own_head_ : tokens_).matrix(); }

private:
    std::int64_t head_dim_;
    DeviceWeight tokens_, positions_;
    std::optional<DeviceWeight> own_head_;
    std::vector<Block> blocks_;
    Norm final_norm_;
};

}  // namespace sixdays::gpt2
