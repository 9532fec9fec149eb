/// @file
/// Byte-pair encoding: from the bytes of a piece of text to its tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {

/// Begins with one token a byte. Then, while two neighbours are among the merges, those of the
/// lowest rank become one, the leftmost of them first.
///
///     " the"   Ġ t h e  ->  Ġt h e  ->  Ġt he  ->  Ġthe
///
/// Takes n log n steps for n bytes: pairs wait in a heap, and the tokens are a linked list.
/// @param piece  what pre_split() cut off
/// @param out    the tokens are appended to it
void encode_piece(const Vocabulary& vocabulary, std::string_view piece,
                  std::vector<std::int64_t>& out);

}  // namespace sixdays::gpt2
