/// @file
/// UTF-8: where a character ends. A token is bytes, and may end in the middle of one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sixdays::gpt2 {

/// How a text begins: with a whole character, with a byte that can begin none, or with the first
/// bytes of one that might go on past the end.
enum class Utf8 { whole, broken, cut };

/// What stands at the front of a text.
struct Character {
    Utf8 kind;
    std::size_t bytes;  // that belong to it: 1 to 4
    char32_t code;      // of a whole character
};

/// What stands at the front of `text`, which is not empty. Well-formed means: shortest form, no
/// surrogates, nothing above U+10FFFF (the Unicode Standard, table 3-7).
[[nodiscard]] Character first_character(std::string_view text) noexcept;

/// Text as it is made, token by token: what push() returns ends with a whole character, so that an
/// emoji that comes in two tokens is printed in one go. Bytes that are no UTF-8 pass as they are.
class Utf8Stream {
public:
    /// All bytes so far that were not returned yet, but for the beginning of a character.
    [[nodiscard]] std::string push(std::string_view bytes);

    /// What is left when no more will come: up to three bytes.
    [[nodiscard]] std::string finish();

private:
    std::string held_;
};

}  // namespace sixdays::gpt2
