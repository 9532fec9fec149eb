/// @file
/// A model of the Llama family with random weights, for tests and benchmarks.
#pragma once

#include <optional>

#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama {

/// The sizes of Llama 3.2 1B: 1.24 billion parameters. Its rotation is Llama 3's without divisors,
/// which costs the same time.
[[nodiscard]] Config llama_1b();
/// The sizes of SmolLM2 135M.
[[nodiscard]] Config smollm2_135m();

/// What a random model has besides a llama's weights.
struct RandomParts {
    bool biases = false;      // of q, k and v: qwen2
    bool head_norms = false;  // of q and k: qwen3
    bool own_head = false;    // a head that is not the token embedding
};

/// A model of the Llama family of any size with random weights.
class RandomLlama {
public:
    /// Deterministic for a seed, as gpt2::RandomModel.
    /// @param values  the type of v and down where it differs: files in Q4_K_M have Q6_K there
    /// @throws std::invalid_argument  rows that are not a multiple of the type's blocks
    RandomLlama(const Config& config, gpt2::WeightType type, const RandomParts& parts = {},
                std::optional<gpt2::WeightType> values = {}, std::uint64_t seed = 1);

    /// Its weights, which it owns. Tests change them.
    ModelWeights& weights() noexcept { return weights_; }

private:
    ModelWeights make(const Config& config, gpt2::WeightType type, const RandomParts& parts,
                      gpt2::WeightType values);
    LinearWeights linear(std::int64_t N, std::int64_t K, bool bias);

    gpt2::RandomWeights random_;
    ModelWeights weights_;
};

}  // namespace sixdays::llama
