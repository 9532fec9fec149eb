/// @file
/// A model's vocabulary: the bytes of each token, and which pairs of tokens merge into which.
///
/// A token is a sequence of bytes. A file of a byte-level vocabulary (GPT-2, Llama 3, Qwen, SmolLM)
/// writes it with one letter per byte: printable bytes stand for themselves, the other 68 are
/// U+0100, U+0101 and so on; a space is written Ġ. A file of a SentencePiece vocabulary (Llama 2)
/// writes a token as UTF-8, a space as ▁ (U+2581), and the token of a single byte as <0x41>.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

namespace sixdays::gpt2 {

/// The letter for a byte.
[[nodiscard]] char32_t letter_of(std::uint8_t byte);

/// SentencePiece's text: each U+2581 (▁), which stands for a space, as a space.
[[nodiscard]] std::string with_spaces(std::string_view text);

/// How a text becomes tokens.
enum class TokenizerModel {
    byte_level,      // "gpt2": bytes merge in the order in which training found the merges
    sentence_piece,  // "llama": characters merge into the token of the highest score
};

/// A merge of two neighbours into one token.
struct Merge {
    std::int64_t rank;    // lower ranks go first: the order of training, or of falling scores
    std::int64_t result;  // the new token
};

/// All tokens and merges of a model. The keys:
/// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#tokenizer; what is assumed where one is
/// missing: src/llama-vocab.cpp of https://github.com/ggml-org/llama.cpp.
class Vocabulary {
public:
    /// Reads the keys tokenizer.ggml.*. @throws std::invalid_argument  an unknown tokenizer or
    /// pre-split, a token not written as its kind demands, a token that exists twice, a merge that
    /// uses a missing token, a score that is not a number, a missing begin or end of text
    explicit Vocabulary(const Gguf& file);

    /// The number of tokens, V.
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(bytes_.size()); }

    /// How a text becomes tokens.
    TokenizerModel model() const noexcept { return model_; }
    /// Where a byte-level tokenizer splits a text.
    PreSplit split() const noexcept { return split_; }
    /// Is a piece that is a token taken without merging? Some tokens of Llama 3 are the result of no
    /// merge.
    bool takes_whole_pieces() const noexcept { return whole_pieces_; }
    /// Does a text get a space before its first character? In SentencePiece, so that a word has the
    /// same token at the beginning of a text as inside it.
    bool adds_space() const noexcept { return adds_space_; }

    /// The bytes of a token; of a special token, its name.
    /// @throws std::invalid_argument  not 0 <= token < size()
    const std::string& bytes(std::int64_t token) const;

    /// The ordinary token with these bytes, if one exists.
    std::optional<std::int64_t> token_of(std::string_view bytes) const;
    /// The token of a single byte. @throws std::invalid_argument  there is none: SmolLM2's vocabulary
    /// lacks bytes that its training text did not have
    std::int64_t token_of_byte(std::uint8_t byte) const;

    /// The merge of two neighbours, if one exists.
    std::optional<Merge> merge(std::int64_t left, std::int64_t right) const;

    /// The special token of a name: a control token ("<|im_start|>"), or one that was added to the
    /// vocabulary (type "user-defined"). A name in <| and |> is a control token's whatever its type
    /// is, as for llama.cpp's converter.
    std::optional<std::int64_t> special(std::string_view name) const;
    /// The longest user-defined token at the front of a text. Text is encoded to it, but never to a
    /// control token.
    std::optional<std::int64_t> user_defined_at(std::string_view text) const;

    /// The token that begins a text, if the model wants one: encode_beginning() adds it.
    std::optional<std::int64_t> begin_of_text() const noexcept { return begin_of_text_; }
    /// The end-of-text token, 50256 in GPT-2. encode() never returns it.
    std::int64_t end_of_text() const noexcept { return end_of_text_; }
    /// Does this token end what a model writes? The end of text does, and in a conversation the end
    /// of a turn or of a message, by the file's keys or by its name.
    bool ends(std::int64_t token) const noexcept {
        return std::find(ends_.begin(), ends_.end(), token) != ends_.end();
    }

private:
    enum class Type;
    void read_model(const Gguf& file);
    void read_tokens(const Gguf& file);
    void read_merges(const Gguf& file);
    void read_scores(const Gguf& file);
    void read_ends(const Gguf& file);
    std::string add_token(const Gguf& file, std::size_t token, std::string_view text, Type type);

    TokenizerModel model_ = TokenizerModel::byte_level;
    PreSplit split_ = PreSplit::gpt2;
    bool whole_pieces_ = false, adds_space_ = false, adds_begin_ = false;
    std::vector<std::string> bytes_;                        // of each token
    std::unordered_map<std::string, std::int64_t> tokens_;  // ordinary tokens, without special ones
    std::unordered_map<std::string, std::int64_t> special_;             // by name
    std::unordered_map<char, std::vector<std::int64_t>> user_defined_;  // by their first byte
    std::array<std::int64_t, 256> of_byte_{};                           // -1: none
    std::unordered_map<std::uint64_t, Merge> merges_;                   // key: left * 2^32 + right
    std::optional<std::int64_t> begin_of_text_;
    std::int64_t end_of_text_ = 0;
    std::vector<std::int64_t> ends_;  // of texts and turns
};

}  // namespace sixdays::gpt2
