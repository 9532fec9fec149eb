// Backends under test, and inputs for them.
#pragma once

#include <memory>
#include <string>

#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2::tests {

/// A GPT-2 in a file of tests.
struct Opened {
    MappedFile mapped;
    Gguf file{mapped.bytes(), "test.gguf"};
    ModelWeights weights = read_model(file);
    Vocabulary vocabulary{file};
};

/// A backend of this name for a model: "plain", "cuda", "cpu" with 2 threads, "cpu 1", "cpu 3", ...
std::unique_ptr<Backend> make(const std::string& name, const ModelWeights& model,
                              std::int64_t capacity);

/// Seeded token ids (count).
Tensor<std::int64_t> random_ids(const Sizes& sizes, std::int64_t count, std::uint64_t seed);

/// Logits of all ids (T, V), in one pass.
Tensor<float> logits_of(Engine& engine, View<const std::int64_t> ids);

/// How far two correct backends may differ, relative to the largest number. A sum of K products
/// rounds K times, each by about 2^-24 / sqrt(3) of its current value. As a random walk from 0 to
/// S, that adds up to 2^-24 S sqrt(K / 6). Errors of consecutive sums add up as squares; there are
/// two backends; six standard deviations are never reached.
double rounding(const Sizes& config);

/// The largest magnitude of an element.
double largest(View<const float> x);

}  // namespace sixdays::gpt2::tests
