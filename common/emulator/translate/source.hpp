/// @file
/// A file's tokens by number, and which bracket belongs to which.
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
/// Words that say where a variable lives.
bool is_memory(const Token& token);
/// Words that a parenthesis with no business of ours follows.
bool is_attribute(const Token& token);

class Source {
public:
    explicit Source(std::string_view file) : tokens_(tokens_of(file)) {}

    Index size() const { return tokens_.size(); }
    /// The token; behind the last, a border.
    const Token& at(Index i) const;
    bool is_word(Index i) const { return at(i).kind == Token::Kind::word; }
    /// A word that an expression may begin or end with, not one that stands before a statement.
    bool is_name(Index i) const {
        return is_word(i) && !is_one_of(at(i), {"return", "else", "do"});
    }
    bool is_border(Index i) const { return at(i).kind == Token::Kind::border; }

    /// The bracket that closes the one at `open`: ( [ {, or < where that opens template arguments.
    Index close_of(Index open) const;
    /// The bracket that opens the one at `close`: ) ] } >.
    Index open_of(Index close) const;
    /// The first of these marks from `i` on that no bracket encloses.
    Index find(Index i, std::initializer_list<std::string_view> marks) const;
    /// Where the expression that ends before `end` begins: k, ns::k<T>, (*pointer), table[i].k
    Index begin_of_expression(Index end) const;
    /// The mark after the name that is declared from `i` on: ( [ = { ; or a comma.
    Index end_of_name(Index i) const;

    /// Tokens as text: on one line, without comments.
    std::string joined(Index begin, Index end) const;

private:
    std::vector<Token> tokens_;
};

}  // namespace sixdays::translate
