/// @file
/// The lines that the model learns: questions with their answers, drawn by a number, as tokens.
/// lines.py draws alike, but other lines: its numbers come from PyTorch.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "day06_transformer_ops/gpt2/strides_model/questions.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::gpt2 {

/// Cuts lines into tokens: a word is one, and each digit is, so that a number is read as a person
/// reads it. 292 tokens: bytes, six words, how numbers begin, and what lies on the way there.
class LineTokens {
public:
    LineTokens();
    const NewVocabulary& vocabulary() const noexcept { return vocabulary_; }

    /// @param line  words and numbers, one space before each but the first, as text_of() and
    /// answer_to() write them
    [[nodiscard]] std::vector<std::int64_t> operator()(std::string_view line) const;

private:
    NewVocabulary vocabulary_;
    std::unordered_map<std::string_view, std::int64_t> ids_;
};

/// Tokens of the longest line about shapes of up to this many dimensions, the end of the text included.
[[nodiscard]] std::int64_t longest_line(int most_dims);

/// Line number `number` of a training: never about a shape that is held out. Long lines come more
/// often than short ones, for they take longest to learn. Every second line leans towards large
/// shapes and indices, whose sums have the most to carry.
/// @throws std::invalid_argument  most_dims not in 1 to 4
[[nodiscard]] Question training_question(int most_dims, std::uint64_t seed, std::uint64_t number);

}  // namespace sixdays::gpt2
