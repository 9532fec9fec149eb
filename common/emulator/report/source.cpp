#include "common/emulator/report/source.hpp"

#include <cctype>
#include <fstream>

namespace sixdays::emulator {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string source(const std::string& file, int line, int count) {
    std::ifstream in(file);  // as an absolute path, or relative to the working directory
    if (!in) in.open(SIXDAYS_EMULATOR_ROOT "/" + file);
    std::string text, one;
    for (int i = 1; i < line + count && std::getline(in, one); ++i) {
        if (i >= line) text += one + ' ';
    }
    return text;
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
