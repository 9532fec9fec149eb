/// @file
/// Text to tokens and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// The tokens of a text. The name of a control token ("<|endoftext|>") is encoded like any other
/// text; a token that the vocabulary lists as user-defined is found in the text before all else.
///
/// Byte-level: pre_split() splits the text, encode_piece() merges each piece. Any bytes can be
/// encoded, and decode() returns the same bytes.
///
/// SentencePiece: the text, with a space before it if the vocabulary adds one, is one piece. A
/// character without a token becomes the tokens of its bytes. decode() returns the same bytes, but
/// a space for U+2581. Model and source: https://github.com/google/sentencepiece, with the settings
/// of Llama 2: no normalization, byte fallback.
/// @throws std::invalid_argument  a byte without a token: see Vocabulary::token_of_byte()
/// @throws std::runtime_error  built without PCRE2, which byte-level vocabularies need
[[nodiscard]] std::vector<std::int64_t> encode(const Vocabulary& vocabulary, std::string_view text);

/// The same for the beginning of a text: after the token that begins one, if the model wants it.
[[nodiscard]] std::vector<std::int64_t> encode_beginning(const Vocabulary& vocabulary,
                                                         std::string_view text);

/// The bytes of tokens, concatenated, without the space that encode() adds. They need not be whole
/// characters: see Utf8Stream.
/// @throws std::invalid_argument  a token that is not in the vocabulary
[[nodiscard]] std::string decode(const Vocabulary& vocabulary,
                                 const std::vector<std::int64_t>& tokens);

}  // namespace sixdays::gpt2
