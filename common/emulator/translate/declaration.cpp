#include "common/emulator/translate/declaration.hpp"

namespace sixdays::translate {

namespace {

std::string spaced(const Source& in, const std::vector<Index>& rest, std::size_t begin,
                   std::size_t end) {
    std::string text;
    for (std::size_t k = begin; k < end; ++k) {
        if (k > begin) text += ' ';
        text += in.at(rest[k]).text;
    }
    return text;
}

// The first comma from `k` on that is outside brackets and template arguments, or the end.
std::size_t comma_after(const Source& in, const std::vector<Index>& rest, std::size_t k) {
    for (; k < rest.size() && !in.at(rest[k]).is(","); ++k) {
        const bool angle = in.at(rest[k]).is("<") && k > 0 && in.is_word(rest[k - 1]);
        if (!angle && !is_one_of(in.at(rest[k]), {"(", "[", "{"})) continue;
        const Index close = in.close_of(rest[k]);
        while (close <= rest.back() && rest[k] < close) ++k;  // a `<` may be a comparison
    }
    return k;
}

bool split(const Source& in, const std::vector<Index>& rest, Declaration& result) {
    // The type ends before the last word in front of an extent, initializer, comma or the end.
    std::size_t k = 0, name = kNone;
    for (; k < rest.size() && !is_one_of(in.at(rest[k]), {"[", ",", "=", "("}); ++k) {
        if (in.is_word(rest[k])) name = k;
        if (is_one_of(in.at(rest[k]), {"<", "{"})) {
            const Index close = in.close_of(rest[k]);
            while (k < rest.size() && rest[k] < close) ++k;
        }
    }
    if (name == kNone || name == 0) return false;
    std::size_t type_end = name;
    while (type_end > 0 && in.at(rest[type_end - 1]).is("*")) --type_end;
    result.type = spaced(in, rest, 0, type_end);
    for (k = type_end; k < rest.size(); ++k) {
        Declaration::Name one;
        for (; k < rest.size() && in.at(rest[k]).is("*"); ++k) one.pointer += '*';
        if (k == rest.size() || !in.is_word(rest[k])) return false;
        one.name = in.at(rest[k++]).text;
        while (k < rest.size() && in.at(rest[k]).is("[")) {
            const Index close = in.close_of(rest[k]);
            one.extents += in.joined(rest[k], close + 1);
            while (k < rest.size() && rest[k] <= close) ++k;
        }
        one.has_value = k < rest.size() && is_one_of(in.at(rest[k]), {"=", "("});
        if (one.has_value) k = comma_after(in, rest, k);
        result.names.push_back(one);
        if (k < rest.size() && !in.at(rest[k]).is(",")) return false;
    }
    return true;
}

}  // namespace

std::optional<Declaration> read_declaration(const Source& in, Index begin, Index end) {
    Declaration result;
    std::vector<Index> rest;
    for (Index i = begin; i < end; ++i) {
        const bool group =
            is_attribute(in.at(i)) && !in.at(i).is("decltype") && in.at(i + 1).is("(");
        if (in.at(i).is("extern")) {
            result.is_extern = true;
        } else if (group) {
            result.alignment += in.joined(i, in.close_of(i + 1) + 1) + ' ';
            i = in.close_of(i + 1);
        } else if (in.at(i).is("[") && in.at(i + 1).is("[")) {
            i = in.close_of(i);
        } else if (!is_memory(in.at(i)) &&
                   !is_one_of(in.at(i), {"static", "inline", "__shared__"})) {
            rest.push_back(i);
        }
    }
    if (!split(in, rest, result)) return {};
    return result;
}

}  // namespace sixdays::translate
