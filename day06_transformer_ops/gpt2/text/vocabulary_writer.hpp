/// @file
/// Writes a vocabulary as the keys that Vocabulary reads.
#pragma once

#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::gpt2 {

/// The 256 tokens of bytes, each written as its letter, in the letters' order, as in GPT-2.
[[nodiscard]] std::vector<std::string> byte_tokens();

/// The token of each byte in that order. @param byte  0 to 255
[[nodiscard]] std::int64_t byte_token(std::uint8_t byte);

/// A new vocabulary: tokens and merges in the letters of a file.
struct NewVocabulary {
    std::vector<std::string> tokens, merges;  // by id; "left right", by rank

    /// The number of tokens, V.
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
    /// The last token, which ends a text; text is never encoded to it.
    [[nodiscard]] std::int64_t end_of_text() const { return size() - 1; }
};

/// The bytes, the merges that build each word from its left end, and the end of text. So a word is
/// one token, and so is each of its prefixes.
[[nodiscard]] NewVocabulary vocabulary_of_words(const std::vector<std::string>& words);

/// Bytes as letters, as in a file's tokens.
[[nodiscard]] std::string in_letters(std::string_view bytes);

/// The keys tokenizer.ggml.*.
void write_vocabulary(GgufWriter& file, const NewVocabulary& vocabulary);

}  // namespace sixdays::gpt2
