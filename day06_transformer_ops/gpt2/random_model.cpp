#include "day06_transformer_ops/gpt2/random_model.hpp"

#include <cmath>
#include <cstring>

namespace sixdays::gpt2 {

namespace {

// splitmix64.
std::uint64_t next_bits(std::uint64_t& state) {
    std::uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// In [-1, 1).
float next_number(std::uint64_t& state) {
    return static_cast<float>(next_bits(state) >> 40) * 0x1p-23f - 1;
}

// A random block, with scales for weights in about [-size, size].
template <class B>
B& scaled(B& block, double size) {
    block.scale = f16(static_cast<float>(size / B::kZero));  // quants of -kZero to kZero - 1
    return block;
}
template <HasMinimum B>
B& scaled(B& block, double size) {
    const double half = 8 << B::kHigh, scale = size / (64 * half);  // Q4_K: 63 * 15 at most
    block.scale = f16(static_cast<float>(scale));
    block.minimum = f16(static_cast<float>((half - 0.5) * scale));  // so that the average is 0
    return block;
}
Q6KBlock& scaled(Q6KBlock& block, double size) {
    block.scale = f16(static_cast<float>(size / 2400));  // 128 * 32 at most, 1366 on average
    return block;
}

template <class B>
void fill_blocks(std::vector<std::byte>& bytes, double size, std::uint64_t& state) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next_bits(state) >> 56);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(B)) {
        B block;
        std::memcpy(&block, bytes.data() + at, sizeof block);
        std::memcpy(bytes.data() + at, &scaled(block, size), sizeof block);
    }
}

void fill_numbers(std::vector<std::byte>& bytes, WeightType type, std::int64_t count, double size,
                  std::uint64_t& state) {
    std::byte* to = bytes.data();
    const auto put = [&to](auto value) {
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
    };
    for (std::int64_t i = 0; i < count; ++i) {
        const float x = next_number(state);
        if (type == WeightType::q8_0) {
            if (i % kQ8Block == 0) put(f16(static_cast<float>(size / 127)));
            put(static_cast<std::int8_t>(127 * x));
        } else {
            const float weight = static_cast<float>(size) * x;
            if (type == WeightType::f32) put(weight);
            if (type == WeightType::f16) put(f16(weight));
            if (type == WeightType::bf16) put(bf16(weight));
        }
    }
}

}  // namespace

std::vector<std::byte> random_weights(WeightType type, std::int64_t N, std::int64_t K, double size,
                                      std::uint64_t& state) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(type, {N, K})));
    if (type == WeightType::q4_0) {
        fill_blocks<Q4Block>(bytes, size, state);
    } else if (type == WeightType::q5_0) {
        fill_blocks<Q5Block>(bytes, size, state);
    } else if (type == WeightType::q4_k) {
        fill_blocks<Q4KBlock>(bytes, size, state);
    } else if (type == WeightType::q5_k) {
        fill_blocks<Q5KBlock>(bytes, size, state);
    } else if (type == WeightType::q6_k) {
        fill_blocks<Q6KBlock>(bytes, size, state);
    } else {
        fill_numbers(bytes, type, N * K, size, state);
    }
    return bytes;
}

Weight RandomWeights::matrix(std::int64_t N, std::int64_t K, double size) {
    memory_.push_back(random_weights(type_, N, K, size, state_));
    return {type_, memory_.back().data(), {N, K}};
}

Tensor<float> RandomWeights::vector(std::int64_t N, float middle) {
    Tensor<float> all({N});
    for (std::int64_t i = 0; i < N; ++i) all(i) = middle + 0.1f * next_number(state_);
    return all;
}

LinearWeights RandomWeights::linear(std::int64_t N, std::int64_t K) {
    return {matrix(N, K, std::sqrt(3.0 / static_cast<double>(K))), vector(N, 0)};
}

ModelWeights RandomModel::make(const Config& config) {
    const std::int64_t C = config.channels;
    const Weight tokens =
        random_.matrix(config.vocabulary, C, 4 / std::sqrt(static_cast<double>(C)));
    const Weight positions = random_.matrix(config.context, C, 0.5);
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        blocks.push_back({norm(C), random_.linear(3 * C, C), random_.linear(C, C), norm(C),
                          random_.linear(config.hidden, C), random_.linear(C, config.hidden)});
    }
    return {config, tokens, positions, std::move(blocks), norm(C), tokens};
}

RandomModel::RandomModel(const Config& config, WeightType type, std::uint64_t seed)
    : random_(type, seed), weights_(make(config)) {}

}  // namespace sixdays::gpt2
