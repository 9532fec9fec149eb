/// @file
/// GPT-2's vocabulary: the bytes of each token, and which pairs of tokens merge into which.
///
/// A token is a sequence of bytes. Files write it with one letter per byte: printable bytes stand
/// for themselves, the other 68 are U+0100, U+0101 and so on; a space is written Ġ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"

namespace sixdays::gpt2 {

/// The letter for a byte.
[[nodiscard]] char32_t letter_of(std::uint8_t byte);

/// A merge of two neighbours into one token.
struct Merge {
    std::int64_t rank;    // lower ranks go first: the order in which training found them
    std::int64_t result;  // the new token
};

/// All tokens and merges of a model.
class Vocabulary {
public:
    /// Reads the keys tokenizer.ggml.*. @throws std::invalid_argument  another tokenizer than
    /// GPT-2's, a token of other letters, a byte without a token, a merge that uses a missing token
    explicit Vocabulary(const Gguf& file);

    /// The number of tokens, V.
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(bytes_.size()); }

    /// The bytes of a token. @throws std::invalid_argument  not 0 <= token < size()
    const std::string& bytes(std::int64_t token) const;

    /// The token of a single byte.
    std::int64_t token_of_byte(std::uint8_t byte) const noexcept { return of_byte_[byte]; }

    /// The merge of two neighbours, if one exists.
    std::optional<Merge> merge(std::int64_t left, std::int64_t right) const;

    /// The end-of-text token, 50256 in GPT-2. encode() never returns it.
    std::int64_t end_of_text() const noexcept { return end_of_text_; }

private:
    void read_tokens(const Gguf& file);
    void read_merges(const Gguf& file);

    std::vector<std::string> bytes_;                        // of each token
    std::unordered_map<std::string, std::int64_t> tokens_;  // ordinary tokens, without special ones
    std::array<std::int64_t, 256> of_byte_{};
    std::unordered_map<std::uint64_t, Merge> merges_;  // key: left * 2^32 + right
    std::int64_t end_of_text_ = 0;
};

}  // namespace sixdays::gpt2
