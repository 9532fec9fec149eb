/// @file
/// Follows one token through the model, number by number.
#pragma once

#include <span>

#include "day06_transformer_ops/gpt2/strides_model/ask.hpp"

namespace sixdays::gpt2 {

/// Processes the question and prints, for its last token: its id, its row in the file, its vector
/// after the embedding and each block, its cache position, the largest logits, and the choice.
/// @param bytes  the file's, for offsets from its beginning
void follow_last_token(const Gguf& file, std::span<const std::byte> bytes,
                       const Question& question);

}  // namespace sixdays::gpt2
