/// @file
/// What a run learns from: a text, its bytes as tokens, and where each batch is cut from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// Tokens of a vocabulary of bytes: 256, and one that ends a text.
inline constexpr std::int64_t kByteVocabulary = 257;

struct Text {
    std::vector<std::int64_t> tokens;
    std::uint64_t fingerprint;  // of its bytes: another text has another one
};

/// @throws std::invalid_argument  a file that cannot be read, or too short for one piece of context
/// tokens and the one behind it
[[nodiscard]] Text read_text(const std::string& path, std::int64_t context);

/// Sequences of a batch and, for each token, the one that follows.
struct Batch {
    std::vector<std::int64_t> ids, targets;
};

/// Batch number `number` of a run with this seed. It depends on nothing else, so a run that goes on
/// reads what it would have read.
[[nodiscard]] Batch batch_of(const Text& text, std::int64_t batch, std::int64_t context,
                             std::uint64_t seed, std::int64_t number);

}  // namespace sixdays::day06_transformer_ops
