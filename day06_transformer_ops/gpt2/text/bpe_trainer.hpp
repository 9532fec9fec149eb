/// @file
/// Byte-pair encoding, learned: from a text to a vocabulary of its own.
///
/// Each byte is a token at first. Then, again and again, the two neighbours that stand side by side
/// most often become a token of their own, everywhere, from left to right. Pieces that pre_split()
/// cuts off are kept apart, so no token reaches across two words. (Sennrich, Haddow and Birch 2016,
/// arXiv 1508.07909; over bytes: Radford et al. 2019, GPT-2.)
///
///     "the hen, then the hens"     h e    5 times
///                                  t he   3 times, as he n is; t is the older token: it goes first
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::gpt2 {

/// A vocabulary, and the text in its tokens: those that encode() gives it, too.
struct LearnedVocabulary {
    NewVocabulary vocabulary;  // the bytes, the merges as they were found, the end of a text
    std::vector<std::int64_t> tokens;
    std::int64_t taken = 0;  // pairs that the heap gave: how much work the search was
};

/// The least that a vocabulary may have: the 256 bytes and the end of a text.
inline constexpr std::int64_t kLeastVocabulary = 257;

/// Of pairs that are as frequent the one whose left token is older (has the lower number) goes
/// first, then the one whose right token is. A pair that would spell a token that is there already
/// is passed over. So the same text has the same vocabulary on every machine.
///
/// Takes about n log n steps for n bytes of pieces that differ: pairs wait in a heap, each of them
/// once, and each knows its places.
/// @param pieces  the text, cut by pre_split(); none is empty
/// @param size    tokens of the vocabulary
/// @throws std::invalid_argument  size below 257; an empty piece; a text in which no two neighbours
/// stand twice any more before the vocabulary is full: the sentence says how many tokens it gives
[[nodiscard]] LearnedVocabulary learn_vocabulary(const std::vector<std::string_view>& pieces,
                                                 std::int64_t size);

}  // namespace sixdays::gpt2
