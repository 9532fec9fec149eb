/// @file
/// Pre-tokenization: where a text is split before merging. No token spans such a split.
#pragma once

#include <string_view>
#include <vector>

namespace sixdays::gpt2 {

/// Whose splits. A text is cut from left to right, and a piece is the first alternative that
/// matches. The source is src/llama-vocab.cpp of https://github.com/ggml-org/llama.cpp; `\s` is
/// Unicode's White_Space:
///
///     gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///     smollm  each \p{N} is a piece; between them as gpt2
///     llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
///             | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
///     qwen2   as llama3, with \p{N} instead of \p{N}{1,3}
enum class PreSplit {
    gpt2,    // words and numbers with the blank before them
    smollm,  // each digit alone
    llama3,  // numbers of at most three digits, words with any sign before them
    qwen2,   // both: each digit alone, words with any sign before them
};

/// The pieces of a text, in order; they cover it without gaps. With PreSplit::gpt2:
///
///     "I'll pay  20€"  ->  "I" "'ll" " pay" " " " 20" "€"
///
/// "Letter" and "number" are Unicode's categories L and N, as the PCRE2 library of this machine
/// defines them. A run of invalid UTF-8 is a separate piece, and the text on each side of it is
/// split by itself.
/// @throws std::runtime_error  built without PCRE2: the message says what to install
[[nodiscard]] std::vector<std::string_view> pre_split(std::string_view text,
                                                      PreSplit how = PreSplit::gpt2);

}  // namespace sixdays::gpt2
