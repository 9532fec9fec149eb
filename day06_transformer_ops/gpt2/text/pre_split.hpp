/// @file
/// Where GPT-2 cuts a text before anything is merged. No token reaches across such a cut.
#pragma once

#include <string_view>
#include <vector>

namespace sixdays::gpt2 {

/// Pieces are, and the first that fits is taken: an English ending ('s 't 're 've 'm 'll 'd);
/// letters, numbers, or anything else that is no space, with one blank before them or none; spaces,
/// but for the last if something follows.
///
///     "I'll pay  20€"  ->  "I" "'ll" " pay" " " " 20" "€"
///
/// "Letter" and "number" are Unicode's categories L and N, as the PCRE2 library of this machine
/// knows them, "space" is Unicode's White_Space. A run of bytes that are not UTF-8 is a piece of
/// its own. The pieces are the text, without a gap.
/// @throws std::runtime_error  built without PCRE2: the sentence says what to install
[[nodiscard]] std::vector<std::string_view> pre_split(std::string_view text);

}  // namespace sixdays::gpt2
