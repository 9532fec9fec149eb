/// @file
/// A vocabulary, written as the keys that Vocabulary reads.
#pragma once

#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::gpt2 {

/// The 256 tokens of bytes, each written in its letter, in the letters' order, as GPT-2 has them.
[[nodiscard]] std::vector<std::string> byte_tokens();

/// The token of each byte in that order. @param byte  0 to 255
[[nodiscard]] std::int64_t byte_token(std::uint8_t byte);

/// A vocabulary that is made here: tokens and merges in the letters of a file.
struct NewVocabulary {
    std::vector<std::string> tokens, merges;  // "left right", the first ones first

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
    /// The last one ends a text, and is none that text can become.
    [[nodiscard]] std::int64_t end_of_text() const { return size() - 1; }
};

/// The bytes, what merges make of each word from its left end on, and the end of a text. So a word
/// is one token, and so is each of its beginnings.
[[nodiscard]] NewVocabulary vocabulary_of_words(const std::vector<std::string>& words);

/// Bytes in letters, as tokens stand in a file.
[[nodiscard]] std::string in_letters(std::string_view bytes);

/// The keys tokenizer.ggml.*.
void write_vocabulary(GgufWriter& file, const NewVocabulary& vocabulary);

}  // namespace sixdays::gpt2
