/// @file
/// Byte-pair encoding: from a piece of text to its tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// Starts with one token per byte, or in SentencePiece per character, if it has a token. Then, while
/// two neighbours are in the list of merges, the pair of the lowest rank becomes one token, the
/// leftmost first.
///
///     " the"   Ġ t h e  ->  Ġt h e  ->  Ġt he  ->  Ġthe
///
/// O(n log n) for n bytes: pairs are in a heap, and the tokens are a linked list.
///
/// Where the vocabulary takes whole pieces, a piece that is a token is taken as it is.
/// @param piece  a piece from pre_split(); in SentencePiece, a text
/// @param out    the tokens are appended to it
void encode_piece(const Vocabulary& vocabulary, std::string_view piece,
                  std::vector<std::int64_t>& out);

}  // namespace sixdays::gpt2
