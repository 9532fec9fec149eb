#include "common/emulator/translate/scopes.hpp"

#include <algorithm>

namespace sixdays::translate {

void Scopes::follow(Index i) {
    const Token& token = in_.at(i);
    if (token.kind == Token::Kind::border) {
        if (in_define_) {
            const bool between = before_define_.statement == kNone;  // between two statements
            statement_ = between ? i + 1 : before_define_.statement;
            braces_ = before_define_.braces;
        } else {
            const bool between = statement_ == i || (i > 0 && ends_statement(i - 1));
            before_define_ = {between ? kNone : statement_, braces_};
            statement_ = i + 1;
        }
        in_define_ = !in_define_;
    } else if (i > 0 && ends_statement(i - 1)) {
        statement_ = i;
    }
    if (token.is("{")) {
        const Index open = i > 0 && in_.at(i - 1).is(")") ? in_.open_of(i - 1) : kNone;
        const bool of_switch = open != kNone && open > 0 && in_.at(open - 1).is("switch");
        braces_.push_back({scope_of(i), of_switch});
    } else if (braces_.empty()) {
        return;
    } else if (token.is("}")) {
        braces_.pop_back();
    } else if (token.is("(")) {
        ++braces_.back().parentheses;
    } else if (token.is(")")) {
        --braces_.back().parentheses;
    }
}

bool Scopes::takes_statements() const {
    return !in_define_ && !braces_.empty() && braces_.back().scope == Scope::function &&
           !braces_.back().of_switch && braces_.back().parentheses == 0;
}

bool Scopes::ends_statement(Index i) const {
    if (in_.at(i).kind == Token::Kind::include || is_one_of(in_.at(i), {";", "{", "}"}))
        return true;
    return in_.at(i).is(":") &&
           is_one_of(in_.at(statement_), {"case", "default", "public", "private", "protected"});
}

Scopes::Scope Scopes::scope_of(Index brace) const {
    Scope scope = Scope::function;
    for (Index i = statement_; i < brace; ++i) {
        if (in_.at(i).is("namespace") || in_.at(i).kind == Token::Kind::string)
            return Scope::name_space;
        if (in_.at(i).is("template") && in_.at(i + 1).is("<") && in_.close_of(i + 1) < brace) {
            i = in_.close_of(i + 1);
        } else if (is_attribute(in_.at(i)) && in_.at(i + 1).is("(") &&
                   in_.close_of(i + 1) < brace) {
            i = in_.close_of(i + 1);
        } else if (is_one_of(in_.at(i), {"struct", "class", "union", "enum"})) {
            scope = Scope::type;
        } else if (in_.at(i).is("(")) {
            return Scope::function;
        }
    }
    return scope;
}

bool Scopes::in_function() const {
    return in_define_ || std::any_of(braces_.begin(), braces_.end(), [](const Braces& one) {
               return one.scope == Scope::function;
           });
}

}  // namespace sixdays::translate
