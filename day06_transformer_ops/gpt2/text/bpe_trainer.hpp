/// @file
/// Training of byte-pair encoding: from a text to a vocabulary.
///
/// At first each byte is a token. Then the most frequent pair of neighbours is merged into a new
/// token, everywhere, from left to right, and so on. Pieces of pre_split() are kept apart, so no
/// token spans two words. (Sennrich, Haddow and Birch 2016, arXiv 1508.07909; over bytes: Radford
/// et al. 2019, GPT-2.)
///
///     "the hen, then the hens"     h e    5 times
///                                  t he   3 times, like he n; t is the older token and goes first
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::gpt2 {

/// A vocabulary, and the text in its tokens: the same as from encode().
struct LearnedVocabulary {
    NewVocabulary vocabulary;  // the bytes, the merges as they were found, the end of a text
    std::vector<std::int64_t> tokens;  // the text
    std::int64_t taken = 0;            // pairs taken from the heap: the cost of the search
};

/// The smallest vocabulary: the 256 bytes and the end of text.
inline constexpr std::int64_t kLeastVocabulary = 257;

/// Of equally frequent pairs the one with the older left token (the lower id) goes first, then the
/// one with the older right token. A pair that spells an existing token is skipped. The same
/// text gives the same vocabulary on every machine.
///
/// About O(n log n) for n bytes of distinct pieces: each pair is in a heap once, with its places.
/// @param pieces  the text, split by pre_split(); none is empty
/// @param size    tokens of the vocabulary
/// @throws std::invalid_argument  size below 257; an empty piece; a text that runs out of repeated
/// pairs before the vocabulary is full: the message says how many tokens it gives
[[nodiscard]] LearnedVocabulary learn_vocabulary(const std::vector<std::string_view>& pieces,
                                                 std::int64_t size);

}  // namespace sixdays::gpt2
