#include "common/emulator/translate/source.hpp"

#include <algorithm>

namespace sixdays::translate {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), token.text) != words.end();
}
bool is_memory(const Token& token) {
    return is_one_of(token, {"__device__", "__constant__", "__managed__"});
}
bool is_attribute(const Token& token) {
    return is_one_of(token, {"alignas", "__align__", "__attribute__", "__launch_bounds__",
                             "__cluster_dims__", "__maxnreg__", "decltype", "noexcept"});
}

const Token& Source::at(Index i) const {
    static const Token nothing{Token::Kind::border, {}, 0};
    return i < tokens_.size() ? tokens_[i] : nothing;
}

Index Source::close_of(Index open) const {
    const bool angle = at(open).is("<");
    const std::string_view close = angle              ? ">"
                                   : at(open).is("(") ? ")"
                                   : at(open).is("[") ? "]"
                                                      : "}";
    for (Index i = open + 1; !is_border(i); ++i) {
        if (at(i).is(close)) return i;
        if (is_one_of(at(i), {"(", "[", "{"}) || (angle && at(i).is("<"))) i = close_of(i);
        if (i == kNone) break;
    }
    return kNone;
}

Index Source::open_of(Index close) const {
    const bool angle = at(close).is(">");
    const std::string_view open = angle               ? "<"
                                  : at(close).is(")") ? "("
                                  : at(close).is("]") ? "["
                                                      : "{";
    for (Index i = close; i-- > 0 && !is_border(i);) {
        if (at(i).is(open)) return i;
        if (is_one_of(at(i), {")", "]", "}"}) || (angle && at(i).is(">"))) i = open_of(i);
        if (i == kNone) break;
    }
    return kNone;
}

Index Source::find(Index i, std::initializer_list<std::string_view> marks) const {
    for (; i != kNone && !is_border(i); ++i) {
        if (is_one_of(at(i), marks)) return i;
        if (is_one_of(at(i), {"(", "[", "{"})) i = close_of(i);
        if (i == kNone) break;
    }
    return kNone;
}

Index Source::begin_of_expression(Index end) const {
    Index begin = end;
    for (Index i = end; i-- > 0;) {
        if (at(i).is(">") || at(i).is(")") || at(i).is("]")) {
            const bool primary = at(i).is(")");
            i = open_of(i);
            if (i == kNone) return kNone;
            begin = i;
            if (i > 0 && (is_name(i - 1) || is_one_of(at(i - 1), {")", "]", ">"}))) continue;
            if (!primary) return kNone;
        } else if (is_word(i)) {
            begin = i;
        } else {
            return begin == end ? kNone : begin;
        }
        if (i == 0 || !is_one_of(at(i - 1), {"::", ".", "->"})) return begin;
        begin = --i;
        // a leading `::`
        if (at(i).is("::") && (i == 0 || (!is_name(i - 1) && !at(i - 1).is(">")))) return begin;
    }
    return begin;
}

Index Source::end_of_name(Index i) const {
    for (; !is_border(i); ++i) {
        if (is_one_of(at(i), {"(", "[", "=", "{", ";", ","})) return i;
        if (is_attribute(at(i)) && at(i + 1).is("(")) {
            i = close_of(i + 1);
        } else if (is_word(i) && at(i + 1).is("<")) {
            i = close_of(i + 1);
        }
        if (i == kNone) break;
    }
    return kNone;
}

std::string Source::joined(Index begin, Index end) const {
    std::string text;
    for (Index i = begin; i < end; ++i) {
        const bool gap = i > begin && at(i - 1).end() != at(i).begin;
        if (gap && !text.empty()) text += ' ';
        text += at(i).text;
    }
    return text;
}

}  // namespace sixdays::translate
