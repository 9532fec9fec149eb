/// @file
/// Inline PTX as calls of the functions in include/emulated/ptx.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Ptx {
    std::string calls;  // "name(operands); ..."
    std::string
        unknown;  // the first instruction that has no function here; then there are no calls
};
/// @param text      of the asm statement, one or more instructions
/// @param operands  the expressions that %0, %1, ... stand for
Ptx translate_ptx(std::string_view text, const std::vector<std::string>& operands);

}  // namespace sixdays::translate
