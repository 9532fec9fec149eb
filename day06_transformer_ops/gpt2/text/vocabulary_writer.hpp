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

/// The keys tokenizer.ggml.*.
/// @param tokens  the last one ends a text, and is none that text can become
/// @param merges  "left right", the first ones first
void write_vocabulary(GgufWriter& file, const std::vector<std::string>& tokens,
                      const std::vector<std::string>& merges);

}  // namespace sixdays::gpt2
