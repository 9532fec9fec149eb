/// @file
/// Where in a file we are, token after token: where the statement began, and what encloses it.
#pragma once

#include <vector>

#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

class Scopes {
public:
    explicit Scopes(const Source& source) : in_(source) {}

    /// Goes on to token `i`, the one after the last.
    void follow(Index i);

    /// The first token of the current statement.
    Index statement() const { return statement_; }
    /// In a function's body, or in that of a macro, which may become one.
    bool in_function() const;
    bool in_define() const { return in_define_; }
    /// In a function's body, where one statement may follow another: in no parentheses, and not
    /// among the cases of a switch, which may jump over it.
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
        int parentheses = 0;  // that are open in them
    };

    std::vector<Braces> braces_;
    bool in_define_ = false;
    struct {
        Index statement = 0;
        std::vector<Braces> braces;
    } before_define_;
};

}  // namespace sixdays::translate
