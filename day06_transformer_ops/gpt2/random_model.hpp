/// @file
/// A GPT-2 of any size with random weights, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"

namespace sixdays::gpt2 {

/// GPT-2's sizes: 124M parameters.
inline constexpr Config kGpt2 = {12, 1024, 768, 12, 3072, 50257, 1e-5f};

/// Random weights (N, K) of a type, as a file stores them. Types with one scale per weight or block
/// are uniform in [-size, size]. Blocks of types in runs consist of random bytes, and their
/// scales are set so that weights are about as large.
/// @param state  of splitmix64; advanced
/// @throws std::invalid_argument  rows that are not a multiple of the type's blocks
[[nodiscard]] std::vector<std::byte> random_weights(WeightType type, std::int64_t N, std::int64_t K,
                                                    double size, std::uint64_t& state);

/// Random weights of a model of any architecture. It owns their memory.
class RandomWeights {
public:
    /// Deterministic for a seed. Matrices are of `type`.
    explicit RandomWeights(WeightType type, std::uint64_t seed = 1) : type_(type), state_(seed) {}
    RandomWeights(const RandomWeights&) = delete;

    /// (N, K), uniform in about [-size, size].
    /// @throws std::invalid_argument  rows that are not a multiple of the type's blocks
    Weight matrix(std::int64_t N, std::int64_t K, double size);
    /// (N), near `middle`: no bias is 0 and no norm the identity.
    Tensor<float> vector(std::int64_t N, float middle);
    /// A matrix (N, K) that keeps the size of its input, and a bias (N).
    LinearWeights linear(std::int64_t N, std::int64_t K);

    /// The type of the next matrices.
    void set_type(WeightType type) noexcept { type_ = type; }

private:
    WeightType type_;
    std::uint64_t state_;
    std::deque<std::vector<std::byte>> memory_;
};

/// A GPT-2 of any size with random weights, for tests and benchmarks.
class RandomModel {
public:
    /// Deterministic for a seed. Matrices of `type`, scaled so that a token's elements
    /// stay near 1 and logits differ by a few units.
    /// @throws std::invalid_argument  rows that are not a multiple of the type's blocks
    RandomModel(const Config& config, WeightType type, std::uint64_t seed = 1);

    /// Its weights, which it owns.
    const ModelWeights& weights() const noexcept { return weights_; }

private:
    ModelWeights make(const Config& config);
    NormWeights norm(std::int64_t N) { return {random_.vector(N, 1), random_.vector(N, 0)}; }

    RandomWeights random_;
    ModelWeights weights_;
};

}  // namespace sixdays::gpt2
