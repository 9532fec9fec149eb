/// @file
/// Uses of an engine: continuing a text, measuring how well a text is predicted, and finding the
/// first layer at which two backends differ.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// Rejects what generate() cannot do in a context of `capacity` tokens, of which the first `length`
/// are taken.
/// @throws std::invalid_argument  n below 1; prompt and n tokens exceed the context
void check_room(std::int64_t capacity, const std::vector<std::int64_t>& prompt, std::int64_t n,
                std::int64_t length = 0);

/// Statistics of a generated text.
struct Generated {
    std::int64_t prompt{}, tokens{};          // processed; generated, without the end of text
    bool ended = false;                       // by a token that ends a text: Vocabulary::ends()
    std::optional<std::int64_t> unread;       // printed, but not processed: the last of `n` tokens
    double prompt_seconds = 0, seconds = 0;   // until the first token is chosen; for all others
    PartTimes prompt_parts = {}, parts = {};  // by part, if requested
};

/// Processes a prompt as the beginning of a text and generates up to `n` tokens.
/// @param prompt   empty: the text begins after an end of text, as in GPT-2's training
/// @param print    receives the text as it is generated, in whole characters
/// @param stop     called before each token; true ends the text
/// @param measure  fill in the times of each part
/// @throws std::invalid_argument  n below 1; prompt and n tokens exceed the context; nothing was
/// processed then
Generated generate(Engine& engine, const Vocabulary& vocabulary,
                   const std::vector<std::int64_t>& prompt, std::int64_t n,
                   const std::function<void(std::string_view)>& print,
                   const std::function<bool()>& stop, bool measure = false);

/// The same for tokens that continue what the engine has processed.
/// @param ids  at least one
/// @throws std::invalid_argument  n below 1; ids and n tokens exceed the context; nothing was
/// processed then
Generated continue_text(Engine& engine, const Vocabulary& vocabulary,
                        const std::vector<std::int64_t>& ids, std::int64_t n,
                        const std::function<void(std::string_view)>& print,
                        const std::function<bool()>& stop, bool measure = false);

/// The number of tokens that can follow a prompt; the last one is not processed. 0 or less: none.
[[nodiscard]] std::int64_t most_tokens(std::int64_t capacity,
                                       const std::vector<std::int64_t>& prompt);

/// The exponential of the mean negative log-probability of a text's tokens. An untrained model has
/// a perplexity of about V.
struct Perplexity {
    double value = 0;         // at least 1; 1 if every token was certain
    std::int64_t tokens = 0;  // predicted ones: all but the first of each window
};
/// The text is split into windows of the engine's capacity, which are independent.
/// @param tokens     of the text
/// @param beginning  a token before each window: Vocabulary::begin_of_text()
/// @throws std::invalid_argument  fewer than 2 tokens, or a capacity of 1
[[nodiscard]] Perplexity perplexity(Engine& engine, const std::vector<std::int64_t>& tokens,
                                    std::optional<std::int64_t> beginning = {});

/// The output of a layer in two backends.
struct LayerDifference {
    std::string layer;  // "embedding", "block 0", "logits"; "block 0, one token"
    double largest;     // largest magnitude in the expected output
    double difference;  // largest difference between the two; NaN if one is NaN

    /// Rounding is about 1e-6 of the largest; a bug is as large as the numbers themselves.
    static constexpr double kBound = 1e-4;
    /// Is the difference larger than rounding explains?
    bool beyond() const noexcept { return !(difference <= kBound * largest); }
};
/// One pass over `ids` in each; then, if the context has room, the first four of `ids` again, one
/// token per pass. In order: the embedding, all blocks, the logits of the last token; and the same
/// for the passes of one token, with the largest difference of all of them.
[[nodiscard]] std::vector<LayerDifference> compare(const Sizes& sizes, Engine& got,
                                                   Engine& expected,
                                                   const std::vector<std::int64_t>& ids);

}  // namespace sixdays::gpt2
