/// @file
/// What an engine is used for: to go on with a text, to say how well a text was foreseen, and to
/// find the first layer that two backends disagree about.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// @throws std::invalid_argument  n below 1; no room for prompt and n tokens
void check_room(std::int64_t capacity, const std::vector<std::int64_t>& prompt, std::int64_t n);

/// How a text went on.
struct Generated {
    std::int64_t prompt{}, tokens{};         // read at first; made, the end of the text not counted
    bool ended = false;                      // by the end-of-text token
    double prompt_seconds = 0, seconds = 0;  // until the first token was chosen; for all others
    PartTimes prompt_parts = {}, parts = {};  // of these, if they were asked for
};

/// Reads a prompt as the beginning of a text and makes up to `n` tokens.
/// @param prompt   none: the text begins with the end of another, as GPT-2 was taught
/// @param print    is given the text as it is made, whole characters at a time
/// @param stop     asked before each token: enough?
/// @param measure  fill in the times of each part
/// @throws std::invalid_argument  n below 1; no room for prompt and n tokens: nothing was read then
Generated generate(Engine& engine, const Vocabulary& vocabulary,
                   const std::vector<std::int64_t>& prompt, std::int64_t n,
                   const std::function<void(std::string_view)>& print,
                   const std::function<bool()>& stop, bool measure = false);

/// How many tokens can follow a prompt: the last one need not be read. 0 or less: none.
[[nodiscard]] std::int64_t most_tokens(std::int64_t capacity,
                                       const std::vector<std::int64_t>& prompt);

/// exp of the mean of -log of the probability that the model gave to each token of a text. A model
/// that has learned nothing gives V.
struct Perplexity {
    double value = 0;
    std::int64_t tokens = 0;  // foreseen: all but the first of each window
};
/// The text in windows of the engine's capacity, one after the other, none knowing the one before.
/// @throws std::invalid_argument  fewer than 2 tokens, or a capacity of 1
[[nodiscard]] Perplexity perplexity(Engine& engine, const std::vector<std::int64_t>& text);

/// What leaves a layer in two backends.
struct LayerDifference {
    std::string layer;  // "embedding", "block 0", "logits"; "block 0, one token"
    double largest;     // size of a number in the expected one
    double difference;  // largest of got and expected; NaN if one is NaN

    /// Rounding is some 1e-6 of the largest; a mistake is as large as the numbers themselves.
    static constexpr double kBound = 1e-4;
    bool beyond() const noexcept { return !(difference <= kBound * largest); }
};
/// One pass over `ids` in each; then, where the text has room for them, the first four of `ids`
/// once more, one token a pass. In order: the embedding, all blocks, logits of the last token; and
/// the same of passes of one token, the largest of all of them.
[[nodiscard]] std::vector<LayerDifference> compare(const Config& config, Engine& got,
                                                   Engine& expected,
                                                   const std::vector<std::int64_t>& ids);

}  // namespace sixdays::gpt2
