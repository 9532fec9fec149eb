#include "day06_transformer_ops/llama/random_llama.hpp"

#include <cmath>

namespace sixdays::llama {

using gpt2::WeightType;

Config llama_1b() {
    return {{16, 131072, 2048, 32, 8192, 128256, 1e-5f},
            8,
            64,
            {day06_transformer_ops::Pairing::neighbours,
             day06_transformer_ops::rotary_frequencies(64, 500000)}};
}

Config smollm2_135m() {
    return {{30, 8192, 576, 9, 1536, 49152, 1e-5f},
            3,
            64,
            {day06_transformer_ops::Pairing::neighbours,
             day06_transformer_ops::rotary_frequencies(64, 100000)}};
}

LinearWeights RandomLlama::linear(std::int64_t N, std::int64_t K, bool bias) {
    LinearWeights made = random_.linear(N, K);
    if (!bias) made.bias = Tensor<float>({0});
    return made;
}

ModelWeights RandomLlama::make(const Config& config, WeightType type, const RandomParts& parts,
                               WeightType values) {
    const std::int64_t C = config.channels, F = config.hidden, D = config.head_dim;
    const double size = 4 / std::sqrt(static_cast<double>(C));
    const Weight tokens = random_.matrix(config.vocabulary, C, size);
    const auto head_norm = [&] {
        return parts.head_norms ? random_.vector(D, 1) : Tensor<float>({0});
    };
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        Tensor<float> attention_norm = random_.vector(C, 1);
        LinearWeights q = linear(config.heads * D, C, parts.biases);
        LinearWeights k = linear(config.kv_heads * D, C, parts.biases);
        LinearWeights output = linear(C, config.heads * D, false);
        LinearWeights gate = linear(F, C, false), up = linear(F, C, false);
        random_.set_type(values);
        LinearWeights v = linear(config.kv_heads * D, C, parts.biases);
        LinearWeights down = linear(C, F, false);
        random_.set_type(type);
        blocks.push_back({std::move(attention_norm), std::move(q), std::move(k), std::move(v),
                          head_norm(), head_norm(), std::move(output), random_.vector(C, 1),
                          std::move(gate), std::move(up), std::move(down)});
    }
    const Weight head = parts.own_head ? random_.matrix(config.vocabulary, C, size) : tokens;
    return {config, tokens, std::move(blocks), random_.vector(C, 1), head};
}

RandomLlama::RandomLlama(const Config& config, WeightType type, const RandomParts& parts,
                         std::optional<WeightType> values, std::uint64_t seed)
    : random_(type, seed), weights_(make(config, type, parts, values.value_or(type))) {}

}  // namespace sixdays::llama
