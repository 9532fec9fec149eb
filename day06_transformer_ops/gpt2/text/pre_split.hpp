/// @file
/// GPT-2's pre-tokenization: where a text is split before merging. No token spans such a split.
#pragma once

#include <string_view>
#include <vector>

namespace sixdays::gpt2 {

/// A piece is the first of these that matches: an English ending ('s 't 're 've 'm 'll 'd);
/// letters, numbers, or other non-spaces, each with an optional blank before them; spaces, without
/// the last one if something follows.
///
///     "I'll pay  20€"  ->  "I" "'ll" " pay" " " " 20" "€"
///
/// "Letter" and "number" are Unicode's categories L and N, as the PCRE2 library of this machine
/// defines them, "space" is Unicode's White_Space. A run of invalid UTF-8 is a separate piece. The
/// pieces cover the text without gaps.
/// @throws std::runtime_error  built without PCRE2: the message says what to install
[[nodiscard]] std::vector<std::string_view> pre_split(std::string_view text);

}  // namespace sixdays::gpt2
