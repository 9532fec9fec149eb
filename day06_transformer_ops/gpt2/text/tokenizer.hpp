/// @file
/// Text to tokens and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// The tokens of a text: pre_split() splits it, encode_piece() merges each piece. Any bytes can be
/// encoded, and decode() returns the same bytes. The name of a special token ("<|endoftext|>") is
/// encoded like any other text.
/// @throws std::runtime_error  built without PCRE2
[[nodiscard]] std::vector<std::int64_t> encode(const Vocabulary& vocabulary, std::string_view text);

/// The bytes of tokens, concatenated. They need not be whole characters: see Utf8Stream.
/// @throws std::invalid_argument  a token that is not in the vocabulary
[[nodiscard]] std::string decode(const Vocabulary& vocabulary,
                                 const std::vector<std::int64_t>& tokens);

}  // namespace sixdays::gpt2
