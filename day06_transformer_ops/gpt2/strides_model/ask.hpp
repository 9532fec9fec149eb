/// @file
/// Asking a model: the question's tokens go in, then each likeliest token comes out, until
/// the model ends the text.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/strides_model/questions.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// Creates the backend: make_cpu_backend, or another.
using MakeBackend = std::function<std::unique_ptr<Backend>(const ModelWeights&, std::int64_t)>;

/// The question's tokens. In such a line every word and number but the first has one space before
/// it, so it can be cut into pieces without the tokenizer's regular expression, and without PCRE2.
[[nodiscard]] std::vector<std::int64_t> tokens_of(const Vocabulary& vocabulary,
                                                  const Question& question);

/// A model file with everything needed to query it. `file` must outlive it.
class Asker {
public:
    Asker(const Gguf& file, const MakeBackend& make);

    /// The model's continuation of the question, up to the end of text or of the context.
    /// @throws std::invalid_argument  the question does not fit into the model's context
    [[nodiscard]] std::string operator()(const Question& question);

    const Config& config() const noexcept { return model_.config; }
    std::string device() const { return backend_->name(); }

private:
    Vocabulary vocabulary_;
    ModelWeights model_;
    std::unique_ptr<Backend> backend_;
    Engine engine_;
};

/// The number of entirely correct answers of one kind and rank.
struct Score {
    std::int64_t right = 0, asked = 0;
};
using Scores = std::array<std::array<Score, kMostDims>, std::size(kAsked)>;

/// Asks `count` questions of each kind and rank about held-out shapes.
/// @param each  called with every question and the model's answer, correct or not
[[nodiscard]] Scores score_held_out(
    Asker& ask, std::int64_t count, std::uint64_t seed,
    const std::function<void(const Question&, const std::string& said)>& each = {});

}  // namespace sixdays::gpt2
