#include "common/emulator/report/names.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>

namespace sixdays::emulator {

namespace {

const Launch* with_names = nullptr;
const char* declared = "";

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// `count` lines of a source file, joined; "" if the file is missing.
std::string source(const std::string& file, int line, int count) {
    std::ifstream in(file);  // as an absolute path, or relative to the working directory
    if (!in) in.open(SIXDAYS_EMULATOR_ROOT "/" + file);
    std::string text, one;
    for (int i = 1; i < line + count && std::getline(in, one); ++i) {
        if (i >= line) text += one + ' ';
    }
    return text;
}

// {"a", "f(b, c)"} from "a, f(b, c)".
std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    int depth = 0;
    for (const char c : list + ",") {
        if (parts.empty() || (c == ',' && depth == 0)) parts.emplace_back();
        if (c == ',' && depth == 0) continue;
        depth += (std::strchr("(<[{", c) != nullptr) - (std::strchr(")>]}", c) != nullptr);
        parts.back() += c;
    }
    parts.pop_back();
    return parts;
}

std::string last_word(const std::string& text) {
    std::size_t end = text.size();
    while (end > 0 && !is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    return text.substr(begin, end - begin);
}

bool has_word(const std::string& text, const std::string& word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
            return true;
        }
    }
    return false;
}

// The arguments of cudaMalloc, if the line contains exactly one call.
std::vector<std::string> arguments_of_malloc(const Line& line) {
    if (line.line == 0) return {};
    const std::string text = source(line.file, line.line, 1), call = "cudaMalloc";
    const std::size_t at = text.find(call);
    if (at == std::string::npos || text.find(call, at + 1) != std::string::npos) return {};
    const std::string more = source(line.file, line.line, 3);
    const std::size_t begin = more.find('(', at);
    std::size_t end = begin;
    for (int depth = 0; end < more.size(); ++end) {
        depth += (more[end] == '(') - (more[end] == ')');
        if (depth == 0) break;
    }
    if (end >= more.size()) return {};
    return split(more.substr(begin + 1, end - begin - 1));
}

bool holds_pointer_into(const Argument& argument, const Extent& allocation) {
    for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= argument.bytes; i += 8) {
        std::uintptr_t value;
        std::memcpy(&value, static_cast<const char*>(argument.at) + i, sizeof(value));
        if (value - allocation.begin <= allocation.bytes) return true;
    }
    return false;
}

}  // namespace

void name_launch(const Launch* what) {
    with_names = what;
    declared = "";
}
void name_parameters(const char* list) {
    declared = list;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    if (with_names == nullptr) return all;
    for (const std::string& one : split(declared)) {
        if (all.size() == with_names->count) break;
        const Argument& argument = with_names->in_order[all.size()];
        const std::string plain = one.substr(0, one.find_first_of("=["));
        Parameter p{last_word(plain), false, has_word(plain, "const"), 0};
        for (const char* word : {"__restrict__", "__restrict", "restrict"}) {
            p.restricted = p.restricted || has_word(plain, word);
        }
        if (argument.bytes == sizeof(p.value) && plain.find('*') != std::string::npos) {
            std::memcpy(&p.value, argument.at, sizeof(p.value));
        }
        all.push_back(std::move(p));
    }
    return all;
}

std::optional<std::pair<Parameter, Parameter>> equal_restricted_parameters() {
    if (std::strstr(declared, "restrict") == nullptr) return std::nullopt;
    const auto all = parameters();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            const bool may_write = !all[i].constant || !all[j].constant;
            if (all[i].restricted && all[j].restricted && all[i].value != 0 &&
                all[i].value == all[j].value && may_write) {
                return std::pair(all[i], all[j]);
            }
        }
    }
    return std::nullopt;
}

std::string equal_parameters(const Extent& allocation) {
    const auto all = parameters();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].value - allocation.begin >= allocation.bytes) continue;
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            if (all[i].value == all[j].value)
                return " `" + all[i].name + "` and `" + all[j].name +
                       "` are the same array: should the kernel write to another one?";
        }
    }
    return "";
}

std::string known_as(const Extent& allocation) {
    std::string as, where;
    const auto named = parameters();
    for (std::size_t i = 0; i < named.size(); ++i) {
        if (!holds_pointer_into(with_names->in_order[i], allocation)) continue;
        as += (as.empty() ? "`" : " or `") + named[i].name + "`";
    }
    const Line line = find_line(allocated_in(allocation));
    const std::string type = line.file.substr(std::min(line.file.rfind('.'), line.file.size()));
    const bool in_buffer = line.file.rfind("common/gpu/", 0) == 0;  // Buffer's, not the caller's
    if (!in_buffer && (type == ".cu" || type == ".cpp" || type == ".cc")) {
        const auto asked = arguments_of_malloc(line);
        where = "allocated " + (asked.empty() ? "" : "as `" + last_word(asked[0]) + "` ") + "in " +
                line.file + ":" + std::to_string(line.line);
    }
    if (as.empty() && where.empty()) return "";
    if (as.empty()) return " It is " + where + ".";
    return " It is the kernel's " + as + (where.empty() ? "" : ", " + where) + ".";
}

bool is_pitched(const Extent& allocation) {
    const Line line = find_line(allocated_in(allocation));
    return line.line != 0 &&
           source(line.file, line.line, 1).find("cudaMallocPitch") != std::string::npos;
}

std::string elements_for_bytes(const Extent& allocation) {
    const auto asked = arguments_of_malloc(find_line(allocated_in(allocation)));
    if (asked.size() != 2) return "";
    std::string size = asked[1], small;
    while (!size.empty() && size.front() == ' ') size.erase(0, 1);
    for (const char c : size) {
        small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    // Signs that the size is in bytes already.
    for (const char* word : {"size", "byte", "* 2", "*2", "2 *", "2*", "* 4", "*4", "4 *", "4*",
                             "* 8", "*8", "8 *", "8*", "<<"}) {
        if (small.find(word) != std::string::npos) return "";
    }
    return size;
}

std::string expression_at(const char* file, unsigned line, unsigned column) {
    const std::string text = source(file, static_cast<int>(line), 1);
    if (column == 0 || column > text.size() || text[column - 1] != ']') return "";
    std::size_t begin = column;
    for (int depth = 0; begin > 0; --begin) {  // back over [...][...], names, . and ->
        const char c = text[begin - 1];
        depth += (c == ']') - (c == '[');
        if (depth == 0 && c != '[' && !is_word(c) && c != '.' && c != '>' && c != '-') break;
    }
    return text.substr(begin, column - begin);
}

}  // namespace sixdays::emulator
