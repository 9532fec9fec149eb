#include "day06_transformer_ops/gpt2/random_model.hpp"

#include <cmath>
#include <cstring>

namespace sixdays::gpt2 {

// splitmix64, in [-1, 1).
float RandomModel::next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return static_cast<float>((x ^ (x >> 31)) >> 40) * 0x1p-23f - 1;
}

Weight RandomModel::matrix(std::int64_t N, std::int64_t K, double size) {
    auto& bytes = memory_.emplace_back(static_cast<std::size_t>(bytes_of(type_, {N, K})));
    std::byte* to = bytes.data();
    const auto put = [&to](auto value) {
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
    };
    for (std::int64_t i = 0; i < N * K; ++i) {
        const float x = next();
        if (type_ == WeightType::q8_0) {
            if (i % kQ8Block == 0) put(f16(static_cast<float>(size / 127)));
            put(static_cast<std::int8_t>(127 * x));
        } else {
            const float weight = static_cast<float>(size) * x;
            if (type_ == WeightType::f32) put(weight);
            if (type_ == WeightType::f16) put(f16(weight));
            if (type_ == WeightType::bf16) put(bf16(weight));
        }
    }
    return {type_, bytes.data(), {N, K}};
}

Tensor<float> RandomModel::vector(std::int64_t N, float middle) {
    Tensor<float> all({N});
    for (std::int64_t i = 0; i < N; ++i) all(i) = middle + 0.1f * next();
    return all;
}

LinearWeights RandomModel::linear(std::int64_t N, std::int64_t K) {
    return {matrix(N, K, std::sqrt(3.0 / static_cast<double>(K))), vector(N, 0)};
}

ModelWeights RandomModel::make(const Config& config) {
    const std::int64_t C = config.channels;
    const Weight tokens = matrix(config.vocabulary, C, 4 / std::sqrt(static_cast<double>(C)));
    const Weight positions = matrix(config.context, C, 0.5);
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        blocks.push_back({norm(C), linear(3 * C, C), linear(C, C), norm(C),
                          linear(config.hidden, C), linear(C, config.hidden)});
    }
    return {config, tokens, positions, std::move(blocks), norm(C), tokens};
}

RandomModel::RandomModel(const Config& config, WeightType type, std::uint64_t seed)
    : type_(type), state_(seed), weights_(make(config)) {}

}  // namespace sixdays::gpt2
