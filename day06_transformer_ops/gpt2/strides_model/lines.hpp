/// @file
/// The training lines: questions with their answers, drawn by number, as tokens.
/// lines.py draws from the same distribution, with PyTorch's random numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "day06_transformer_ops/gpt2/strides_model/questions.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::gpt2 {

/// Splits lines into tokens: each word is one, and so is each digit, so that a number is read as a
/// person reads it. 292 tokens: bytes, six words, beginnings of numbers, and intermediate merges.
class LineTokens {
public:
    LineTokens();
    const NewVocabulary& vocabulary() const noexcept { return vocabulary_; }

    /// @param line  words and numbers, separated by one space, as text_of() and
    /// answer_to() write them
    [[nodiscard]] std::vector<std::int64_t> operator()(std::string_view line) const;

private:
    NewVocabulary vocabulary_;
    std::unordered_map<std::string_view, std::int64_t> ids_;
};

/// Tokens of the longest line for shapes of up to this many dimensions, with the end of text.
[[nodiscard]] std::int64_t longest_line(int most_dims);

/// Line `number` of a training run: never about a held-out shape. Long lines come more
/// often than short ones, since they take longest to learn. Every second line favours large
/// shapes and indices, whose sums have the most carries.
/// @throws std::invalid_argument  most_dims not in 1 to 4
[[nodiscard]] Question training_question(int most_dims, std::uint64_t seed, std::uint64_t number);

}  // namespace sixdays::gpt2
