/// @file
/// A CUDA source file as tokens: words, numbers, strings and single characters, without comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Token {
    enum class Kind { word, number, string, mark, include, border };

    Kind kind;
    std::string_view text;  // a border's is empty; an include's is what it names, with its quotes
    std::size_t begin;      // where in the file

    std::size_t end() const { return begin + text.size(); }
    bool is(std::string_view s) const { return text == s; }
};

/// Marks are single characters, but for `::`, `->`, `<<<`. A `#define` keeps its body, between two
/// borders; of other directives but `#include` nothing is kept.
std::vector<Token> tokens_of(std::string_view file);

/// The line that a place of the file lies in, counted from 1.
int line_of(std::string_view file, std::size_t place);

}  // namespace sixdays::translate
