// Files for tests: small models, right ones and wrong ones.
#pragma once

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::gpt2::tests {

using gpt2::append, gpt2::Bytes, gpt2::GgufWriter, gpt2::value_type;

/// Where the tests' files lie.
std::string file_of_tests(const std::string& name);

/// The 257 tokens of bytes and an end, "<|endoftext|>", and merges of them.
std::vector<std::string> tokens_with(const std::vector<std::string>& merges);

/// A whole GPT-2 of 1 layer, 2 heads, 8 channels, 5 positions, with matrices of `type` (F32, F16 or
/// BF16) and the tokenizer's keys. Tensor number n begins with n/8 and goes up in eighths.
GgufWriter small_model(WeightType type, bool own_head, const std::vector<std::string>& merges);

/// The sentence that reading these bytes ends with; "" if they can be read.
std::string rejection_of(const Bytes& bytes);

/// GPT-2's own tokens and merges, as a file's keys.
GgufWriter real_vocabulary();

}  // namespace sixdays::gpt2::tests
