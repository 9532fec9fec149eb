/// @file
/// Tracks the current scope, token by token: the start of the statement and the enclosing braces.
#pragma once

#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

class Scopes {
public:
    explicit Scopes(const Source& source) : in_(source) {}

    /// Advances to token `i`, which must be the next one.
    void follow(Index i);

    /// The first token of the current statement.
    Index statement() const { return statement_; }
    /// In the body of a function, or of a macro, which may be used in one.
    bool in_function() const;
    bool in_define() const { return in_define_; }
    /// In a function's body, where a statement may be inserted: not in parentheses, and not among
    /// the cases of a switch, which may jump over it.
    bool takes_statements() const;
    bool in_type() const { return !braces_.empty() && braces_.back().scope == Scope::type; }

private:
    enum class Scope { name_space, type, function };

    bool ends_statement(Index i) const;
    Scope scope_of(Index brace) const;

    const Source& in_;
    Index statement_ = 0;
    struct Braces {
        Scope scope;
        bool of_switch;
        int parentheses = 0;  // currently open in these braces
    };

    std::vector<Braces> braces_;
    bool in_define_ = false;
    struct {
        Index statement = 0;
        std::vector<Braces> braces;
    } before_define_;
};

}  // namespace sixdays::translate
