/// @file
/// Splits a CUDA source file into words, numbers, strings and punctuation, without comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Token {
    enum class Kind { word, number, string, mark, include, border };

    Kind kind;
    std::string_view text;  // empty for a border; for an include the operand with its quotes
    std::size_t begin;      // offset in the file

    std::size_t end() const { return begin + text.size(); }
    bool is(std::string_view s) const { return text == s; }
};

/// Punctuation is one character per token, except `::`, `->` and `<<<`. The body of a `#define` is
/// kept, between two borders. Other directives except `#include` are dropped.
std::vector<Token> tokens_of(std::string_view file);

/// The line of this offset in the file, counted from 1.
int line_of(std::string_view file, std::size_t place);

}  // namespace sixdays::translate
