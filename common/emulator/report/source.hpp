/// @file
/// Lines of the program's source.
#pragma once

#include <string>

namespace sixdays::emulator {

/// True if names may contain it.
bool is_word(char c);
/// `count` lines of a source file, joined; "" if the file is missing.
std::string source(const std::string& file, int line, int count);
/// "tile[y][x + 1]": the expression that ends in this column.
std::string expression_at(const char* file, unsigned line, unsigned column);

}  // namespace sixdays::emulator
