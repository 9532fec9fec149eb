/// @file
/// One token on its way through the model, by its numbers.
#pragma once

#include <span>

#include "day06_transformer_ops/gpt2/strides_model/ask.hpp"

namespace sixdays::gpt2 {

/// Reads the question and prints, of its last token: its id, its row in the file, what of it leaves
/// the embedding and each block, its place in the cache, the largest logits, and what is chosen.
/// @param bytes  the file's, to count from its beginning
void follow_last_token(const Gguf& file, std::span<const std::byte> bytes,
                       const Question& question);

}  // namespace sixdays::gpt2
