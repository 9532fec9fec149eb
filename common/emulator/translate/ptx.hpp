/// @file
/// Translates inline PTX into calls of the functions in include/emulated/ptx.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Ptx {
    std::string calls;    // "name(operands); ..."
    std::string unknown;  // the first unsupported instruction, if any: `calls` stops there
};
/// @param text      the asm statement's text, one or more instructions
/// @param operands  the expressions for %0, %1, ...
Ptx translate_ptx(std::string_view text, const std::vector<std::string>& operands);

}  // namespace sixdays::translate
