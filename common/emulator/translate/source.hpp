/// @file
/// The tokens of a file by index, with matching brackets.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/emulator/translate/tokens.hpp"

namespace sixdays::translate {

using Index = std::size_t;
constexpr Index kNone = ~Index{0};

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words);
/// Memory-space specifiers of a variable.
bool is_memory(const Token& token);
/// Attributes with an argument list in parentheses, which can be skipped.
bool is_attribute(const Token& token);

class Source {
public:
    explicit Source(std::string_view file) : tokens_(tokens_of(file)) {}

    Index size() const { return tokens_.size(); }
    /// The token at this index; a border past the end.
    const Token& at(Index i) const;
    bool is_word(Index i) const { return at(i).kind == Token::Kind::word; }
    /// A word that can start or end an expression, unlike a keyword that starts a statement.
    bool is_name(Index i) const {
        return is_word(i) && !is_one_of(at(i), {"return", "else", "do"});
    }
    bool is_border(Index i) const { return at(i).kind == Token::Kind::border; }

    /// The bracket that closes the one at `open`: ( [ {, or < if it opens template arguments.
    Index close_of(Index open) const;
    /// The bracket that opens the one at `close`: ) ] } >.
    Index open_of(Index close) const;
    /// The first of these tokens from `i` on that is outside brackets.
    Index find(Index i, std::initializer_list<std::string_view> marks) const;
    /// Start of the expression that ends before `end`: k, ns::k<T>, (*pointer), table[i].k
    Index begin_of_expression(Index end) const;
    /// The token after the name declared from `i` on: ( [ = { ; or a comma.
    Index end_of_name(Index i) const;

    /// The tokens as text, on one line, without comments.
    std::string joined(Index begin, Index end) const;

private:
    std::vector<Token> tokens_;
};

}  // namespace sixdays::translate
