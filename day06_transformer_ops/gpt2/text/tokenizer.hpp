/// @file
/// Text to tokens and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// The tokens of a text: pre_split() cuts it, encode_piece() merges each piece. Any bytes have
/// tokens, and decode() gives the same bytes back. The name of a token that text cannot become
/// ("<|endoftext|>") is text like any other.
/// @throws std::runtime_error  built without PCRE2
[[nodiscard]] std::vector<std::int64_t> encode(const Vocabulary& vocabulary, std::string_view text);

/// The bytes of tokens, one after the other. They need not be whole characters: see Utf8Stream.
/// @throws std::invalid_argument  a token that the vocabulary does not have
[[nodiscard]] std::string decode(const Vocabulary& vocabulary,
                                 const std::vector<std::int64_t>& tokens);

}  // namespace sixdays::gpt2
