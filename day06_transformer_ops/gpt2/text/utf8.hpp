/// @file
/// UTF-8: where a character ends. A token is bytes, and may end in the middle of one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sixdays::gpt2 {

/// How a text begins.
enum class Utf8 {
    whole,   // with a whole character
    broken,  // with an invalid byte
    cut      // with a character that may continue past the end
};

/// The beginning of a text.
struct Character {
    Utf8 kind;          // how the text begins
    std::size_t bytes;  // its length: 1 to 4
    char32_t code;      // of a whole character
};

/// Classifies the front of `text`, which is not empty. Well-formed means: shortest form, no
/// surrogates, nothing above U+10FFFF (the Unicode Standard, table 3-7).
[[nodiscard]] Character first_character(std::string_view text) noexcept;

/// Streams text token by token: the result of push() ends with a whole character, so that an emoji
/// that spans two tokens is printed at once. Invalid UTF-8 passes through unchanged.
class Utf8Stream {
public:
    /// All bytes that were not returned yet, without an incomplete character at the end.
    [[nodiscard]] std::string push(std::string_view bytes);

    /// The rest at the end of the text: up to three bytes.
    [[nodiscard]] std::string finish();

private:
    std::string held_;
};

}  // namespace sixdays::gpt2
