// Files for tests: small models, valid and invalid.
#pragma once

#include <limits>

#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

namespace sixdays::gpt2::tests {

using gpt2::append, gpt2::Bytes, gpt2::GgufWriter, gpt2::value_type;

/// The limits of 64-bit integers.
inline constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The path of a test file.
std::string file_of_tests(const std::string& name);

/// The 257 tokens of single bytes and the end of text, "<|endoftext|>", and merges.
std::vector<std::string> tokens_with(const std::vector<std::string>& merges);

/// A complete GPT-2 of 1 layer, 2 heads, 8 channels, 5 positions, with matrices of `type` (F32, F16
/// or BF16) and the tokenizer's keys. Tensor n begins with n/8 and increases in steps of 1/8.
GgufWriter small_model(WeightType type, bool own_head, const std::vector<std::string>& merges);

/// The error message for these bytes; "" if they can be read.
std::string rejection_of(const Bytes& bytes);

/// GPT-2's own tokens and merges, as a file's keys.
GgufWriter real_vocabulary();

}  // namespace sixdays::gpt2::tests
